// A page's state in its address, after the '#': compressed, so that a program of a few hundred lines fits.

export interface State {
  tool: string;
  args: string;
  text: string;
}

/** Bytes of a program that an address may hold: more is no program that somebody shares. */
const MOST = 4 << 20;

async function through(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair);
  const parts: Uint8Array[] = [];
  let size = 0;
  for (const reader = piped.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > MOST) throw new Error("the program in the address is too long");
  }
  const all = new Uint8Array(size);
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

export async function encode(state: State): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state that an address holds; none where it is damaged. */
export async function decode(hash: string): Promise<State | null> {
  try {
    const binary = atob(hash.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"));
    const { tool, args, text } = JSON.parse(new TextDecoder().decode(bytes));
    return [tool, args, text].every((part) => typeof part === "string") ? { tool, args, text } : null;
  } catch {
    return null;
  }
}
