"""References: setpoints, poses and speeds that a robot shall follow."""
