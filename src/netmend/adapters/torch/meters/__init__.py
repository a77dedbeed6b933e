"""Statistics of tensors, in host memory and on a device."""
