"""The libraries' side: PyTorch, and what it brings (cuBLAS, cuDNN, FlashAttention), on the data of our server.

On a GPU each contender is timed as ours is (Score.cpp): by events, after the L2 cache was filled with other lines by reading,
with the host ahead of the GPU. Beside the virtual GPU PyTorch computes on the CPU, for comparison of results alone."""
import torch
import torch.nn.functional as F

import plain

FLUSH_BYTES = 256 << 20
MOST_READS = 16
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
          "e4m3": getattr(torch, "float8_e4m3fn", None)}


class GpuScorer:
    def __init__(self):
        self.lines = torch.ones(FLUSH_BYTES // 4, dtype=torch.float32, device="cuda")
        self.sum = torch.empty((), dtype=torch.float32, device="cuda")
        self.reads = 2

    def score(self, call):
        while True:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            for _ in range(self.reads):
                torch.sum(self.lines, 0, out=self.sum)
            start.record()
            call()
            stop.record()
            is_host_bound = start.query()
            stop.synchronize()
            if not is_host_bound or self.reads >= MOST_READS:
                return {"ms": start.elapsed_time(stop), "host_bound": is_host_bound}
            self.reads *= 2


class Library:
    """The contenders of each row by name; each is a function that computes the row's outputs."""

    def __init__(self, ours):
        self.ours = ours
        self.is_timed = not ours.machine["virtual"]
        self.device = ours.machine["device"] if self.is_timed else "cpu"
        if self.is_timed:
            torch.cuda.set_device(self.device)
        self.memory, self.outputs = {}, {}
        self.scorer = GpuScorer() if self.is_timed else None

    def prepare(self, row):
        """The contenders, after the data of other rows were let go."""
        wanted = {operand.memory for operand in row.operands.values()}
        self.memory = {name: bits for name, bits in self.memory.items() if name in wanted}
        self.outputs = {}
        inputs = {name: self._input(operand) for name, operand in row.operands.items() if operand.seed is not None}
        return getattr(self, row.op)(row, inputs)

    def error(self, row, results):
        """The largest relative norm of what our outputs differ by."""
        return plain.worst(self._relative_norm(row.operands[name], result) for name, result in zip(row.outputs, results))

    def score(self, call):
        return self.scorer.score(call)

    # --- Data -----------------------------------------------------------------------------------

    def _bits(self, operand, whole):
        path = self.ours.bits(operand, whole)
        try:
            count = path.stat().st_size
            bits = torch.from_file(str(path), shared=False, size=count, dtype=torch.uint8)
            return bits.to(self.device, copy=True).view(DTYPES[operand.dtype])
        finally:
            path.unlink()

    @staticmethod
    def _view(flat, operand):
        extents = operand.extents
        if operand.order == "column":
            return flat[:operand.count].view(extents[1], extents[0]).t()
        return flat[:operand.count].view(extents)

    def _input(self, operand):
        if operand.memory not in self.memory:
            self.memory[operand.memory] = self._bits(operand, whole=True)
        return self._view(self.memory[operand.memory], operand)

    def _output(self, operand):
        return torch.empty(operand.extents, dtype=DTYPES[operand.dtype], device=self.device)

    def _relative_norm(self, operand, result):
        if operand.memory not in self.outputs:
            self.outputs[operand.memory] = self._view(self._bits(operand, whole=False), operand)
        ours, reference = self.outputs[operand.memory].float(), result.detach().float()
        if ours.shape != reference.shape:
            raise ValueError(f"extents {tuple(ours.shape)} beside {tuple(reference.shape)}")
        return ((ours - reference).norm() / reference.norm()).item()

    # --- Contenders -----------------------------------------------------------------------------

    def matmul(self, row, of):
        if row.operands["a"].dtype == "e4m3":
            return {"cublas": self._scaled_product(of)}
        c = self._output(row.operands["c"])
        contenders = {"cublas": lambda: [torch.matmul(of["a"], of["b"], out=c)]}
        if self.is_timed:
            contenders.update(triton_contender(of["a"], of["b"], self._output(row.operands["c"])))
        return contenders

    def _scaled_product(self, of):
        one = torch.ones((), dtype=torch.float32, device=self.device)
        return lambda: [torch._scaled_mm(of["a"], of["b"], scale_a=one, scale_b=one, out_dtype=torch.bfloat16)]

    def linear(self, row, of):
        return {"cublas": lambda: [F.linear(of["x"], of["weight"])]}

    def attention(self, row, of):
        def forward(backend):
            return lambda: [attend(backend, of["q"], of["k"], of["v"], row.causal)]
        return {name: forward(backend) for name, backend in self._backends().items()}

    def attentionBackward(self, row, of):
        leaves = [of[name].clone().requires_grad_() for name in ("q", "k", "v")]

        def gradient(backend):
            outs = []  # of the forward pass, which is not timed and made when the contender is called first

            def call():
                if not outs:
                    outs.append(attend(backend, *leaves, row.causal))
                return torch.autograd.grad(outs[0], leaves, of["dout"], retain_graph=True)
            return call
        return {name: gradient(backend) for name, backend in self._backends().items()}

    def _backends(self):
        from torch.nn.attention import SDPBackend
        if not self.is_timed:
            return {"torch": SDPBackend.MATH}
        return {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}

    def softmax(self, row, of):
        return {"torch": lambda: [F.softmax(of["x"], -1)], **self._copy(row, of)}

    def layernorm(self, row, of):
        width = of["x"].shape[-1:]
        return {"torch": lambda: [F.layer_norm(of["x"], width, of["weight"], of["bias"])], **self._copy(row, of)}

    def _copy(self, row, of):
        """Of other results, so not compared: None."""
        y = self._output(row.operands["y"])

        def call():
            y.copy_(of["x"])
        return {"torch copy": call}


def attend(backend, q, k, v, causal):
    from torch.nn.attention import sdpa_kernel
    with sdpa_kernel([backend]):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def triton_contender(a, b, c):
    """The product in Triton, where Triton is there."""
    try:
        import triton_product
    except ImportError:
        return {}
    return {"triton": lambda: [triton_product.product(a, b, c)]}


def versions():
    found = {"torch": torch.__version__, "cuda": torch.version.cuda}
    if torch.backends.cudnn.is_available():
        found["cudnn"] = torch.backends.cudnn.version()
    try:
        import triton
        found["triton"] = triton.__version__
    except ImportError:
        pass
    return found
