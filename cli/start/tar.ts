const BLOCK_BYTES = 512;

/**
 * Returns the content of the file with this base name in a tar archive (ustar; names of up to 100 characters).
 * @throws Error if the archive does not contain the file
 */
export function extractFile(archive: Buffer, name: string): Buffer {
  let offset = 0;
  while (offset + BLOCK_BYTES <= archive.length) {
    const header = archive.subarray(offset, offset + BLOCK_BYTES);
    const path = text(header.subarray(0, 100));
    const bytes = Number.parseInt(text(header.subarray(124, 136)), 8) || 0;
    offset += BLOCK_BYTES;
    if (path.split('/').at(-1) === name && bytes > 0) return archive.subarray(offset, offset + bytes);
    offset += Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
  throw new Error(`the archive does not contain ${name}`);
}

function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end).trim();
}
