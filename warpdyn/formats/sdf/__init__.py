"""SDF, Gazebo's format: frames, joints and sensors."""
