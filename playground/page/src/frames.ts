// Messages of the language server's protocol as bytes: a header with the length, then JSON.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function frame(json: string): Uint8Array {
  const body = encoder.encode(json);
  const head = encoder.encode(`Content-Length: ${body.length}\r\n\r\n`);
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}

/** The messages in bytes that hold whole ones. */
export function unframe(bytes: Uint8Array): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const head = decoder.decode(bytes.subarray(at, at + 64));
    const [match, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(head) ?? ["", "0"];
    if (!match) break;
    const from = at + match.length;
    at = from + Number(length);
    messages.push(decoder.decode(bytes.subarray(from, at)));
  }
  return messages;
}
