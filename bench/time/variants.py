"""The measured kernels: one configuration structure each, of a kernel template in kernels/. data/variants.tsv lists them."""
import dataclasses

from rows import kData, table

# What a field means is said in the kernel's header. Fields that a line of variants.tsv does not name have these values.
kGemm = dict(TileM=128, TileN=256, TileK=64, Stages=4, Consumers=2, ClusterM=1, ClusterN=1, Persistent=0, Epilogue=0,
             StoreColumns=128, StoreBuffers=1, NMajorB=0, ProducerRegisters=40, ConsumerRegisters=232, InFlight=1,
             ProducerWarps=4, BlocksPerSm=1, ClusterScope=0, StoreInRing=0, Arrivals=1)
kFp8 = dict(TileM=128, TileN=256, TileK=64, Stages=4, Consumers=2, ClusterM=1, Epilogue=1, StoreColumns=64, StoreBuffers=2,
            StoreInRing=0, Promotion=0, EmptyBarriers=0, PingPong=0, TempColumns=256, RoleWarps=0)
kGrouped = dict(TileM=128, TileN=256, TileK=64, Stages=4, Consumers=2, Epilogue=1, StoreColumns=64, StoreBuffers=2,
                StoreInRing=0, NMajorB=0)
kAttention = dict(HeadDim=128, TileN=128, Stages=2, Consumers=2, Causal=0, Tail=0, Schedule=0, Overlap=1, PingPong=0,
                  ProducerRegisters=24, ConsumerRegisters=240, ProducerWarps=4, BlocksPerSm=1, PinExp=1, LazyRescale=0)
kBackward = dict(HeadDim=128, Queries=64, StagesQ=2, StagesDO=2, DQ=0, Overlap=1, Causal=0, LateV=0, Roles=0, Rotate=0,
                 EarlyRefill=0, LateS=0, TileN=128, StagesK=3, StagesV=2)
kRows = dict(Op=0, WarpsPerRow=4, RowsPerBlock=1, Persistent=0, Hints=0, Stages=8, BlocksPerSm=4, Threads=256, Accesses=1,
             Elements=8, RowLength=4096)
kSkinny = dict(Consumers=1, BlocksPerSm=1, Panels=1, NMajorW=0, Clustered=0)
kPlainLoads = dict(RowGroups=1, ColumnTiles=1, WarpsN=1, WarpsK=8, Unroll=4, Prefetch=0, Hints=0, BlocksPerSm=1, Fma=0,
                   NMajorW=0)
kDefaults = {
    "gemm_ms": kGemm, "gemm_mp": kGemm, "gemm_ws": kGemm, "gemm_pp": kGemm, "gemm_f8": kFp8, "gemm_gp": kGrouped,
    "attn_ms": kAttention, "attn_ws": kAttention, "attn_nr": kAttention, "bwd_kv": kBackward,
    "rows_reg": kRows, "rows_bulk": kRows, "add_k": kRows, "skinny_sk": kSkinny, "skinny_cl": kSkinny,
    "gemv_nk": kPlainLoads, "gemv_nk_fma": kPlainLoads, "gemv_kn": kPlainLoads,
}
kHeaders = {
    "gemm_ms": "gemm", "gemm_mp": "gemm", "gemm_ws": "gemm", "gemm_pp": "gemm", "gemm_f8": "fp8", "gemm_gp": "grouped",
    "attn_ms": "attention", "attn_ws": "attention", "attn_nr": "attention_no_roles", "bwd_kv": "attention_backward",
    "rows_reg": "rows", "rows_bulk": "rows", "add_k": "rows", "skinny_sk": "skinny", "skinny_cl": "skinny",
    "gemv_nk": "plain_loads", "gemv_nk_fma": "plain_loads", "gemv_kn": "plain_loads",
}


@dataclasses.dataclass
class Variant:
    """A kernel template and the values of its fields, which are attributes, too: `variant.TileM`."""
    family: str
    name: str
    kernel: str
    fields: dict

    def __getattr__(self, field):
        try:
            return self.fields[field]
        except KeyError:
            raise AttributeError(f"{self.name} has no field {field}") from None

    @property
    def threads(self):
        """Of a block."""
        return kThreads[self.kernel](self)

    @property
    def entry(self):
        """A part of the mangled name that no other entry of a file has."""
        return f"{self.kernel}I{len(self.name)}{self.name}E"

    @property
    def source(self):
        """C++ that makes the compiler emit the kernel."""
        fields = dict(self.fields)
        if self.kernel in ("gemm_ms", "gemm_mp", "attn_ms", "attn_nr") or fields.get("ProducerWarps", 4) != 4:
            fields |= dict(ProducerRegisters=0, ConsumerRegisters=0)  # setmaxnreg is for producer warpgroups
        if "Threads" not in fields:
            fields["Threads"] = self.threads
        constants = " ".join(f"static constexpr int {field} = {value};" for field, value in fields.items())
        uses = "".join(f"void* {kernel}_{self.name} = (void*)&{kernel}<{self.name}>;\n" for kernel in self.kernels)
        return f"struct {self.name} {{ {constants} }};\n{uses}"

    @property
    def kernels(self):
        """All that a call launches, in order."""
        if self.kernel == "bwd_kv":
            return ["bwd_pre", "bwd_kv", "bwd_post" if self.DQ else "bwd_q"]
        return [self.kernel]


def with_producer(variant):
    return variant.Consumers * 128 + 32 * variant.ProducerWarps


def consumers_alone(variant):
    return variant.Consumers * 128


kThreads = {
    "gemm_ms": consumers_alone, "gemm_mp": consumers_alone, "gemm_ws": with_producer, "gemm_pp": with_producer,
    "gemm_f8": lambda v: v.Consumers * 128 + 32 * v.RoleWarps, "gemm_gp": consumers_alone,
    "attn_ms": consumers_alone, "attn_nr": consumers_alone, "attn_ws": with_producer,
    "bwd_kv": lambda v: 384 if v.Roles else 256,
    "rows_reg": lambda v: v.WarpsPerRow * v.RowsPerBlock * 32, "rows_bulk": lambda v: v.WarpsPerRow * v.RowsPerBlock * 32 + 32,
    "add_k": lambda v: v.fields["Threads"], "skinny_sk": consumers_alone, "skinny_cl": consumers_alone,
    "gemv_nk": lambda v: v.WarpsN * v.WarpsK * 32, "gemv_nk_fma": lambda v: v.WarpsN * 32, "gemv_kn": lambda v: v.WarpsK * 32,
}


def variants():
    """All, by name."""
    found = {}
    for row in table(kData / "variants.tsv"):
        given = {key: int(value) for key, value in (item.split("=") for item in row["fields"].split())}
        found[row["variant"]] = Variant(row["family"], row["variant"], row["kernel"], kDefaults[row["kernel"]] | given)
    return found
