"""A simulated arm beside the node."""
