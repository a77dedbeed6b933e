"""Statistics of tensors on a CUDA device: kernels, buffers and what is asked of them."""
