// Fuser: tensor programs compiled for this machine. See c/README.md.
//
// Made by cbindgen from c/src/lib.rs, and kept equal to it by a test: `FUSER_UPDATE=1 cargo test -p fuser-c` writes it.

#ifndef FUSER_H
#define FUSER_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface. It grows with each change that a caller compiled before would notice; `fuser_interface` tells that of the library.
#define FUSER_INTERFACE 1

// A compiled program bound to the shapes of its inputs, with memory for temporaries. One thread uses it at a time.
typedef struct FuserCall FuserCall;

// A program with code for this machine.
typedef struct FuserCompiled FuserCompiled;

// The reason that something was refused.
typedef struct FuserError FuserError;

// A verified program.
typedef struct FuserProgram FuserProgram;

// The options of a compilation. Zero is the default of each.
typedef struct FuserOptions {
  // `sizeof(FuserOptions)`, by which the library knows which fields there are.
  size_t struct_size;
  // The machine that is compiled for, such as "cpu"; null for this one.
  const char *target;
  // The folder in which code is kept for other processes; null for that of FUSER_CACHE_DIR or of the user's caches, "" for none.
  const char *cache;
  // Threads; 0 for as many as the machine runs at a time.
  size_t threads;
} FuserOptions;

// A tensor, row-major, without its elements.
typedef struct FuserTensor {
  // The type of its elements as programs write it, such as "f32" or "bf16".
  const char *dtype;
  // The number of axes.
  size_t rank;
  // The extent of each.
  const int64_t *shape;
  // The bytes of its elements. Of inputs it is not read.
  size_t bytes;
  // The multiple at which its memory begins, in bytes. Of inputs, which begin at any multiple of their elements' size, it is not read.
  size_t align;
} FuserTensor;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library's interface: FUSER_INTERFACE of its header.
uint32_t fuser_interface(void);

// The version of Fuser, such as "0.1.0".
const char *fuser_version(void);

// The code of an error, such as "FIR1001"; it lives as long as the error. Null for null.
//
// # Safety
// `error` is null or an error that is not freed.
const char *fuser_error_code(const struct FuserError *error);

// The message of an error, without code and place; it lives as long as the error. Null for null.
//
// # Safety
// `error` is null or an error that is not freed.
const char *fuser_error_message(const struct FuserError *error);

// All that there is to say of an error, with lines of the text and carets; it lives as long as the error. Null for null.
//
// # Safety
// `error` is null or an error that is not freed.
const char *fuser_error_text(const struct FuserError *error);

// Frees an error.
//
// # Safety
// `error` is null, or an error that is not freed.
void fuser_error_free(struct FuserError *error);

// Reads a program, whose text has `length` bytes.
//
// # Safety
// `text` points to `length` bytes; `program` may be written to.
struct FuserError *fuser_program_parse(const char *text, size_t length, struct FuserProgram **program);

// Reads a program in StableHLO's text form.
//
// # Safety
// As for fuser_program_parse.
struct FuserError *fuser_program_import_stablehlo(const char *text, size_t length, struct FuserProgram **program);

// The number of inputs; 0 for null.
//
// # Safety
// `program` is null or a program that is not freed.
size_t fuser_program_inputs(const struct FuserProgram *program);

// The number of results; 0 for null.
//
// # Safety
// `program` is null or a program that is not freed.
size_t fuser_program_results(const struct FuserProgram *program);

// The name of an input; it lives as long as the program. Null where there is no such input.
//
// # Safety
// `program` is null or a program that is not freed.
const char *fuser_program_input_name(const struct FuserProgram *program, size_t index);

// The name of a result; it lives as long as the program. Null where there is no such result.
//
// # Safety
// `program` is null or a program that is not freed.
const char *fuser_program_result_name(const struct FuserProgram *program, size_t index);

// Compiles a program for this machine. Code is made when shapes first ask for it. `options` may be null.
//
// # Safety
// `program` is a program that is not freed, `options` null or such a structure, whose texts end with NUL; `compiled` may be written to.
struct FuserError *fuser_program_compile(const struct FuserProgram *program,
                                         const struct FuserOptions *options,
                                         struct FuserCompiled **compiled);

// Frees a program. What was compiled of it stays.
//
// # Safety
// `program` is null, or a program that is not freed.
void fuser_program_free(struct FuserProgram *program);

// Binds a compiled program to inputs of these types and shapes: makes the code for them, if it has to, and reserves the memory of temporaries.
//
// # Safety
// `compiled` is one that is not freed, `inputs` points to `count` tensors, whose shapes have `rank` extents; `call` may be written to.
struct FuserError *fuser_compiled_bind(const struct FuserCompiled *compiled,
                                       const struct FuserTensor *inputs,
                                       size_t count,
                                       struct FuserCall **call);

// Frees a compiled program. Calls that are bound of it stay.
//
// # Safety
// `compiled` is null, or one that is not freed.
void fuser_compiled_free(struct FuserCompiled *compiled);

// Type, shape, bytes and alignment of a result. Type and shape live as long as the call.
//
// # Safety
// `call` is one that is not freed; `result` may be written to.
struct FuserError *fuser_call_result(const struct FuserCall *call, size_t index, struct FuserTensor *result);

// Runs the program on memory of the caller's: an address for each input, and one for each result.
//
// # Safety
// `call` is one that is not freed and that no other thread uses. The lists have as many addresses as they say. Inputs have the types and shapes that
// the call was bound to, row-major, axes that a program's type stores once without repetition; results have the bytes that fuser_call_result says. Nobody
// writes to inputs meanwhile. Results overlap nothing, but for the input that a result overwrites, which may be the same memory.
struct FuserError *fuser_call_run(struct FuserCall *call,
                                  const void *const *inputs,
                                  size_t input_count,
                                  void *const *results,
                                  size_t result_count);

// Frees a call.
//
// # Safety
// `call` is null, or one that is not freed.
void fuser_call_free(struct FuserCall *call);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FUSER_H */
