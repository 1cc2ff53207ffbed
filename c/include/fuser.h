// Fuser: tensor programs compiled for this machine. See c/README.md.
//
// Made by cbindgen from c/src/lib.rs, and kept equal to it by a test: `FUSER_UPDATE=1 cargo test -p fuser-c` writes it.

#ifndef FUSER_H
#define FUSER_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface. It grows with each change that affects callers compiled before; `fuser_interface`
// returns the library's version.
#define FUSER_INTERFACE 1

// A compiled program bound to the shapes of its inputs, with memory for temporaries. One thread uses it at a time.
typedef struct FuserCall FuserCall;

// A program with code for this machine.
typedef struct FuserCompiled FuserCompiled;

// The reason why a call failed.
typedef struct FuserError FuserError;

// A verified program.
typedef struct FuserProgram FuserProgram;

// The options of a compilation. Zero is the default of every option.
typedef struct FuserOptions {
  // `sizeof(FuserOptions)`, which tells the library which fields exist.
  size_t struct_size;
  // The machine to compile for, such as "cpu"; null for this one.
  const char *target;
  // The folder that caches code across processes; null for FUSER_CACHE_DIR or the user's cache folder, "" for no
  // cache.
  const char *cache;
  // The number of threads; 0 for the number that the machine runs at a time.
  size_t threads;
} FuserOptions;

// A tensor, row-major, without its elements.
typedef struct FuserTensor {
  // The type of its elements as programs write it, such as "f32" or "bf16".
  const char *dtype;
  // The number of axes.
  size_t rank;
  // The extent of each axis.
  const int64_t *shape;
  // The bytes of its elements; ignored for inputs.
  size_t bytes;
  // The alignment of its memory in bytes; ignored for inputs, which begin at any multiple of their elements' size.
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

// The complete report of an error, with lines of the text and carets; it lives as long as the error. Null for null.
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

// The name of an input; it lives as long as the program. Null if there is no such input.
//
// # Safety
// `program` is null or a program that is not freed.
const char *fuser_program_input_name(const struct FuserProgram *program, size_t index);

// The name of a result; it lives as long as the program. Null if there is no such result.
//
// # Safety
// `program` is null or a program that is not freed.
const char *fuser_program_result_name(const struct FuserProgram *program, size_t index);

// Compiles a program for this machine. Code is made when shapes first need it. `options` may be null.
//
// # Safety
// `program` is a program that is not freed, `options` null or such a structure, whose texts end with NUL; `compiled`
// may be written to.
struct FuserError *fuser_program_compile(const struct FuserProgram *program,
                                         const struct FuserOptions *options,
                                         struct FuserCompiled **compiled);

// Frees a program. Programs compiled from it remain valid.
//
// # Safety
// `program` is null, or a program that is not freed.
void fuser_program_free(struct FuserProgram *program);

// Binds a compiled program to inputs of these types and shapes: compiles code for them if necessary, and allocates
// memory for temporaries.
//
// # Safety
// `compiled` is one that is not freed, `inputs` points to `count` tensors, whose shapes have `rank` extents; `call`
// may be written to.
struct FuserError *fuser_compiled_bind(const struct FuserCompiled *compiled,
                                       const struct FuserTensor *inputs,
                                       size_t count,
                                       struct FuserCall **call);

// Frees a compiled program. Calls bound from it remain valid.
//
// # Safety
// `compiled` is null, or one that is not freed.
void fuser_compiled_free(struct FuserCompiled *compiled);

// Type, shape, bytes and alignment of a result. Type and shape live as long as the call.
//
// # Safety
// `call` is one that is not freed; `result` may be written to.
struct FuserError *fuser_call_result(const struct FuserCall *call, size_t index, struct FuserTensor *result);

// Runs the program on the caller's memory: an address for each input, and one for each result.
//
// # Safety
// `call` is a call that is not freed and that no other thread uses. The lists have as many addresses as their counts
// say. Inputs have the types and shapes to which the call was bound, row-major; axes that a program's type stores once
// are not repeated. Results have the bytes that fuser_call_result gives. No thread writes to inputs during the call.
// Results overlap no other memory, except that a result may be in the memory of the input that it overwrites.
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
