import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  key: string;
  cert: string;
}

/** Creates a key and a self-signed certificate for a host with the program openssl. Both are in PEM format. */
export async function createCertificate(host = 'localhost'): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const name = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    const files = ['-keyout', key, '-out', cert];
    await promisify(execFile)('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      ...name,
      ...files,
    ]);
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  } finally {
    await rm(folder, { recursive: true });
  }
}
