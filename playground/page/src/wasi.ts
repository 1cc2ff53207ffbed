// The tools' module on files in memory: one instance is one process.

import {
  ConsoleStdout,
  Directory,
  File,
  Inode,
  OpenFile,
  PreopenDirectory,
  WASI,
  wasi as defs,
} from "@bjorn3/browser_wasi_shim";

/** The exports of the module: playground/src/lib.rs. */
interface Exports {
  memory: WebAssembly.Memory;
  tool(): number;
  session(): number;
  messages(session: number): number;
  costs(session: number): number;
}

/** Everything that a run leaves. */
export interface Outcome {
  /** The exit status; none where the run was cut short. */
  exit: number | null;
  stdout: string;
  stderr: string;
  /** The files of the folder afterwards, by path. */
  files: Record<string, string>;
}

export const TRAPPED =
  "error: the run ended: the program needs more stack or memory than a browser gives, or this is a bug in Fuser\n";

/** A stream that keeps its bytes; no terminal, so that tools do without colors. */
class Bytes extends ConsoleStdout {
  private parts: Uint8Array[];

  constructor() {
    const parts: Uint8Array[] = [];
    super((bytes) => parts.push(bytes.slice()));
    this.parts = parts;
  }

  fd_fdstat_get(): ReturnType<ConsoleStdout["fd_fdstat_get"]> {
    const status = super.fd_fdstat_get();
    if (status.fdstat) status.fdstat.fs_filetype = defs.FILETYPE_REGULAR_FILE;
    return status;
  }

  take(): Uint8Array {
    const parts = this.parts.splice(0);
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all;
  }
}

/** `/dev/null`. */
class Nothing extends Inode {
  path_open(): ReturnType<Inode["path_open"]> {
    return { ret: 0, fd_obj: new ConsoleStdout(() => {}) };
  }
  stat(): ReturnType<Inode["stat"]> {
    return new defs.Filestat(this.ino, defs.FILETYPE_CHARACTER_DEVICE, 0n);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A process that has begun: its streams, and its exports. */
export class Process {
  private readonly input = new OpenFile(new File([]));
  private readonly output = new Bytes();
  private readonly errors = new Bytes();
  private readonly root = new Map<string, Inode>([["dev", new Directory([["null", new Nothing()]])]]);
  private readonly exports: Exports;
  /** The language server's session, where one has begun. */
  private session: number | undefined;

  constructor(module: WebAssembly.Module, args: string[] = [], files: Record<string, string | Uint8Array> = {}) {
    for (const [path, text] of Object.entries(files)) this.put(path, text);
    const folder = new PreopenDirectory("/", this.root);
    const wasi = new WASI(args, [], [this.input, this.output, this.errors, folder], { debug: false });
    // The package (0.4.2) counts characters of arguments where it writes their bytes.
    wasi.wasiImport.args_sizes_get = (count: number, size: number) => {
      const view = new DataView(this.exports.memory.buffer);
      view.setUint32(count, args.length, true);
      view.setUint32(
        size,
        args.reduce((sum, arg) => sum + encoder.encode(arg).length + 1, 0),
        true,
      );
      return 0;
    };
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport });
    this.exports = instance.exports as unknown as Exports;
    wasi.initialize(instance as unknown as Parameters<WASI["initialize"]>[0]);
  }

  private put(path: string, content: string | Uint8Array): void {
    const names = path.split("/").filter((name) => name);
    const last = names.pop();
    let folder = this.root;
    for (const name of names) {
      const known = folder.get(name);
      const next = known instanceof Directory ? known : new Directory(new Map());
      folder.set(name, next);
      folder = next.contents;
    }
    if (last) folder.set(last, new File(typeof content === "string" ? encoder.encode(content) : content));
  }

  /** Runs the tool that the first argument names. */
  run(): Outcome {
    let exit: number | null = null;
    let cut = "";
    try {
      exit = this.exports.tool();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      cut = TRAPPED;
    }
    const text = (bytes: Bytes): string => decoder.decode(bytes.take());
    return { exit, stdout: text(this.output), stderr: text(this.errors) + cut, files: listing(this.root) };
  }

  /** Hands bytes to the language server; the bytes that it answers. */
  answer(bytes: Uint8Array): Uint8Array {
    this.input.file.data = bytes;
    this.input.file_pos = 0n;
    this.exports.messages((this.session ??= this.exports.session()));
    return this.output.take();
  }

  /** Lets the language server find the bytes of segments; the bytes that it sends. */
  costs(): Uint8Array {
    this.exports.costs((this.session ??= this.exports.session()));
    return this.output.take();
  }
}

function listing(folder: Map<string, Inode>, prefix = ""): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [name, inode] of folder) {
    if (inode instanceof File) files[prefix + name] = decoder.decode(inode.data);
    else if (inode instanceof Directory) Object.assign(files, listing(inode.contents, `${prefix}${name}/`));
  }
  return files;
}
