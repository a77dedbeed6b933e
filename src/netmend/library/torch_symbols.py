"""Names and arguments of torch that are deprecated or gone, from its release notes, documentation and warnings."""

from __future__ import annotations

from netmend.library.symbol import Argument, Symbol

_NOTES = "torch release notes"
_DOCS = "torch documentation"
_FUNCTORCH = ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize")
_INIT = (
    "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal",
    "orthogonal", "sparse",
)  # fmt: skip

SYMBOLS: tuple[Symbol, ...] = (
    # Gone
    Symbol("torch.lstsq", "1.9", "1.13", "torch.linalg.lstsq(A, B), arguments in the other order", _NOTES, method=True),
    Symbol("torch.eig", "1.9", "1.13", "torch.linalg.eig", _NOTES, tensor=True),
    Symbol("torch.matrix_rank", "1.9", "1.13", "torch.linalg.matrix_rank", _NOTES),
    Symbol("torch.solve", "1.8", "1.13", "torch.linalg.solve(A, B), arguments in the other order", _NOTES, tensor=True),
    Symbol("torch.symeig", "1.9", "2.0", "torch.linalg.eigh", _NOTES, method=True),
    Symbol("torch.gels", "1.2", "1.3", "torch.linalg.lstsq", _NOTES),
    Symbol("torch.gesv", "1.1", "1.2", "torch.linalg.solve", _NOTES),
    Symbol("torch.potrf", "1.0", "1.2", "torch.linalg.cholesky", _NOTES),
    Symbol("torch.btrifact", "1.1", "1.3", "torch.linalg.lu_factor", _NOTES),
    Symbol("torch.rfft", "1.7", "1.8", "torch.fft.rfft", _NOTES),
    Symbol("torch.irfft", "1.7", "1.8", "torch.fft.irfft", _NOTES),
    Symbol("torch.ifft", "1.7", "1.8", "torch.fft.ifft", _NOTES),
    Symbol("torch.set_deterministic", "1.8", "1.11", "torch.use_deterministic_algorithms", _NOTES),
    Symbol("torch._six", "1.13", "2.0", "the types of collections.abc and math.inf", _NOTES),
    Symbol("torch.utils.ffi", "1.0", "1.5", "torch.utils.cpp_extension", _NOTES),
    Symbol("torch.legacy", "0.4", "1.0", "torch.nn", _NOTES),
    Symbol("torch.jit.quantized", "1.8", "2.3", "torch.ao.nn.quantized.dynamic", _NOTES),
    Symbol("torch.nn.backends", "1.0", "1.5", "torch.nn.functional", _NOTES),
    Symbol("torch.nn._functions", "0.4", "1.2", "torch.nn.functional", _NOTES),
    Symbol("torch.distributed.all_reduce_multigpu", "1.13", "2.1", "torch.distributed.all_reduce", _NOTES),
    Symbol("torch.onnx.dynamo_export", "2.6", "2.8", "torch.onnx.export(…, dynamo=True)", _NOTES),
    # Deprecated
    Symbol("torch.norm", "1.7", "", "torch.linalg.vector_norm or torch.linalg.matrix_norm", _DOCS),
    Symbol("torch.lu_solve", "1.11", "", "torch.linalg.lu_solve", _DOCS, announced=True),
    Symbol("torch.qr", "1.8", "", "torch.linalg.qr", _DOCS, announced=True, tensor=True),
    Symbol("torch.svd", "1.8", "", "torch.linalg.svd, which returns V transposed", _DOCS, announced=True, tensor=True),
    Symbol("torch.cholesky", "1.8", "", "torch.linalg.cholesky", _DOCS, announced=True, tensor=True),
    Symbol("torch.triangular_solve", "1.11", "", "torch.linalg.solve_triangular", _DOCS, announced=True, tensor=True),
    Symbol("torch.chain_matmul", "1.9", "", "torch.linalg.multi_dot", _DOCS, announced=True),
    Symbol("torch.lu", "1.11", "", "torch.linalg.lu_factor", _DOCS, announced=True, tensor=True),
    Symbol("torch.ger", "1.7", "", "torch.outer", _DOCS, announced=True, tensor=True),
    Symbol("torch.range", "0.3", "", "torch.arange, which leaves the end out", _DOCS, announced=True),
    Symbol("torch.nn.functional.sigmoid", "0.4", "", "torch.sigmoid", _DOCS),
    Symbol("torch.nn.functional.tanh", "0.4", "", "torch.tanh", _DOCS),
    Symbol("torch.nn.functional.upsample", "0.4", "", "torch.nn.functional.interpolate", _DOCS, announced=True),
    Symbol("torch.nn.UpsamplingNearest2d", "0.4", "", 'torch.nn.Upsample(mode="nearest")', _DOCS, announced=True),
    Symbol("torch.nn.UpsamplingBilinear2d", "0.4", "", 'torch.nn.Upsample(mode="bilinear", align_corners=True)', _DOCS, announced=True),
    Symbol("torch.nn.NLLLoss2d", "0.3", "", "torch.nn.NLLLoss", _DOCS, announced=True),
    Symbol("torch.nn.utils.clip_grad_norm", "0.4", "", "torch.nn.utils.clip_grad_norm_", _DOCS, announced=True),
    Symbol("torch.nn.utils.weight_norm", "2.1", "", "torch.nn.utils.parametrizations.weight_norm", _DOCS, announced=True),
    Symbol("torch.cuda.amp.autocast", "2.4", "", 'torch.amp.autocast("cuda")', _NOTES, announced=True),
    Symbol("torch.cuda.amp.GradScaler", "2.4", "", 'torch.amp.GradScaler("cuda")', _NOTES, announced=True),
    Symbol("torch.cpu.amp.autocast", "2.4", "", 'torch.amp.autocast("cpu")', _NOTES, announced=True),
    Symbol("torch.cuda.amp.custom_fwd", "2.4", "", 'torch.amp.custom_fwd(device_type="cuda")', _NOTES, announced=True),
    Symbol("torch.cuda.amp.custom_bwd", "2.4", "", 'torch.amp.custom_bwd(device_type="cuda")', _NOTES, announced=True),
    Symbol("torch.autograd.Variable", "0.4", "", "the tensor itself", _NOTES),
    Symbol("torch.cuda.memory_cached", "1.4", "", "torch.cuda.memory_reserved", _DOCS, announced=True),
    Symbol("torch.cuda.max_memory_cached", "1.4", "", "torch.cuda.max_memory_reserved", _DOCS, announced=True),
    Symbol("torch.set_default_tensor_type", "2.1", "", "torch.set_default_dtype and torch.set_default_device", _DOCS, announced=True),
    Symbol("torch.testing.assert_allclose", "1.12", "", "torch.testing.assert_close", _DOCS, announced=True),
    Symbol("torch.backends.cuda.sdp_kernel", "2.3", "", "torch.nn.attention.sdpa_kernel", _DOCS, announced=True),
    Symbol("torch.nn.utils.stateless.functional_call", "2.0", "", "torch.func.functional_call", _DOCS, announced=True),
    Symbol("torch.nn.functional.upsample_nearest", "0.4", "", "torch.nn.functional.interpolate", _DOCS, announced=True),
    Symbol("torch.nn.functional.upsample_bilinear", "0.4", "", "torch.nn.functional.interpolate(align_corners=True)", _DOCS, announced=True),
    Symbol("torch.cuda.reset_max_memory_cached", "1.4", "", "torch.cuda.reset_peak_memory_stats", _DOCS, announced=True),
    Symbol("torch.cuda.reset_max_memory_allocated", "1.4", "", "torch.cuda.reset_peak_memory_stats", _DOCS, announced=True),
    Symbol("torch.utils._pytree._register_pytree_node", "2.2", "", "torch.utils._pytree.register_pytree_node", _DOCS, announced=True),
    Symbol("torch.utils.data._utils.collate.default_collate", "1.11", "", "torch.utils.data.default_collate", _DOCS, announced=True),
    Symbol("torch.utils.data._utils.collate.default_convert", "1.11", "", "torch.utils.data.default_convert", _DOCS, announced=True),
    Symbol("torch.utils.data.dataloader._utils.collate.default_collate", "1.11", "", "torch.utils.data.default_collate", _DOCS, announced=True),
    Symbol("functorch.make_functional", "2.0", "", "torch.func.functional_call", _DOCS, announced=True),
    *(Symbol(f"functorch.{name}", "2.0", "", f"torch.func.{name}", _DOCS, announced=True) for name in _FUNCTORCH),
    *(Symbol(f"torch.nn.init.{name}", "0.4", "", f"torch.nn.init.{name}_", _DOCS, announced=True) for name in _INIT),
)  # fmt: skip

ARGUMENTS: tuple[Argument, ...] = (
    Argument("torch.optim.lr_scheduler.", "verbose", "2.2", "2.7", "scheduler.get_last_lr() to print the rate", _NOTES),
    Argument("torch.autograd.Variable", "volatile", "0.4", "0.4", "with torch.no_grad(): (volatile has no effect)", _NOTES),
    Argument("torch.nn.", "size_average", "0.4", "", 'reduction="mean" or "sum"', _DOCS, ending=("Loss", "_loss", "entropy"), announced=True),
    Argument("torch.nn.", "reduce", "0.4", "", 'reduction="none"', _DOCS, ending=("Loss", "_loss", "entropy"), announced=True),
)  # fmt: skip
