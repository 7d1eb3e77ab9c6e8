"""Control laws that come with the node: kernels like a user's own, which `law` selects by name, and
two of the node's modes as kernels for controllers."""
