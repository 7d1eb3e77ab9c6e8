"""USD with UsdPhysics: layers, groups, shapes and inertias."""
