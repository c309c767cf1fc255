/** Returns the same bytes as a Buffer. Bytes from another thread arrive as a plain Uint8Array. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
