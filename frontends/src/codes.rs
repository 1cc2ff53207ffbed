//! Diagnostic codes of importing and exporting: FIR11xx. A code is never reused.

fuser_ir::codes! {
    /// Text that the grammar does not have.
    SYNTAX = "FIR1101", "text that is not of the format",
        "`--import` reads StableHLO in the form that MLIR prints (custom or generic), one operation to a line, and Python definitions of nvFuser \
         as nvFuser prints them. docs/importing.md tells more.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  \
         %0 = stablehlo.add %arg0 ) : tensor<4xf32>\n  \
         return %0 : tensor<4xf32>\n\
         }";
    /// An op without a counterpart.
    UNSUPPORTED = "FIR1102", "an operation that Fuser does not have",
        "The operation has no counterpart among the ops of the fusion dialect. The help says what to do instead; docs/importing.md lists \
         what is read.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  \
         %0 = stablehlo.custom_call @my_kernel(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n  \
         return %0 : tensor<4xf32>\n\
         }";
    /// A form of a known op that is not read.
    FORM = "FIR1103", "a form of an operation that Fuser does not have",
        "The operation is known, but not with these attributes, operands or regions; or they do not fit each other.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<4xi1> {\n  \
         %0 = stablehlo.compare %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>\n  \
         return %0 : tensor<4xi1>\n\
         }";
    /// A type that nothing computes with.
    TYPE = "FIR1104", "a type that Fuser does not have",
        "Tensors have known extents and elements of the types in docs/language.md.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf8E3M4>) -> tensor<4xf8E3M4> {\n  \
         return %arg0 : tensor<4xf8E3M4>\n\
         }";
    /// A name that nothing defines.
    UNDEFINED = "FIR1105", "a name that is not defined",
        "Values, vectors and functions are defined before they are used.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  \
         return %0 : tensor<4xf32>\n\
         }";
    /// The written type is another.
    STATED = "FIR1106", "the stated type is not the one that the operation gives",
        "The type of each result follows from the operands; the text says another one.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<5xf32> {\n  \
         %0 = stablehlo.transpose %arg0, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>\n  \
         return %0 : tensor<5xf32>\n\
         }";
    /// No program in the text.
    NO_PROGRAM = "FIR1107", "no program in the text",
        "A StableHLO module has one public function or one called `main`; a Python text has a function whose parameter is a fusion definition: \
         `def nvfuser_fusion_id0(fd : FusionDefinition) -> None :`.",
        "$ fuser-translate --import=nvfuser-python x.fir\nimport torch";
    /// Too much of something.
    LIMIT = "FIR1108", "a program that is too large or too deep",
        "Brackets lie at most 64 deep inside each other, calls too, and inlined calls make at most 1,048,576 operations.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main() {\n  \
         call @main() : () -> ()\n  \
         return\n\
         }";
    /// Extents that cannot be equal.
    EXTENTS = "FIR1109", "extents that differ",
        "Axes of operands have equal extents, or one is a broadcast axis of extent 1. Extents that the definition leaves open (`-1`) are equal \
         where an op needs them equal.",
        "$ fuser-translate --import=nvfuser-python x.fir\n\
         def nvfuser_fusion_id0(fd : FusionDefinition) -> None :\n    \
         T0 = fd.define_tensor(shape=[4], contiguity=[True], dtype=DataType.Float)\n    \
         T1 = fd.define_tensor(shape=[5], contiguity=[True], dtype=DataType.Float)\n    \
         T2 = fd.ops.add(T0, T1)\n    \
         fd.add_output(T2)";
    /// A call that is left out.
    DROPPED = "FIR1111", "a call of Python that no result depends on",
        "A program calls no Python. A call that gives nothing, as that of `jax.debug.print`, is left out with this warning; one whose results are used is \
         an error.",
        "$ fuser-translate --import=stablehlo x.fir\n\
         func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n  \
         stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {has_side_effect = true} : (tensor<4xf32>) -> ()\n  \
         return %arg0 : tensor<4xf32>\n\
         }";
    /// A program that the format cannot say.
    EXPORT = "FIR1110", "a program that the format cannot say",
        "`--export` writes programs of `fusion` ops that the format has. The message names the op or the type.",
        "$ fuser-translate --export=stablehlo x.fir\n\
         task.program @f(%x: tensor<[N]xf32>) -> tensor<[N]xf32> {\n  \
         task.return %x\n\
         }";
}
