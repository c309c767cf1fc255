import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The only key that the store accepts. */
export const S3_KEY = { id: 'AKIDTIDINGS', secret: 'secret-of-the-bucket' };
const BUCKET = 'pictures';

export interface FakeS3 {
  endpoint: string;
  /** Variables that name the bucket. */
  env: Record<string, string>;
  /** Objects by key. */
  objects: Map<string, { content: Buffer; type: string }>;
  /** Requests in order: `PUT tidings/…`. */
  requests: string[];
  /**
   * How the store behaves now: it responds, disconnects, refuses with an S3 error, or stores an object without a
   * response.
   */
  mood: 'well' | 'away' | 'silent' | { status: number; code: string };
  /** If it is set, the store sends only this many bytes of an object, and then disconnects. */
  cutAt: number | undefined;
  close(): Promise<void>;
}

/** Starts an S3-compatible store with one bucket. It checks paths and signatures, and responds in XML. */
export async function startFakeS3(): Promise<FakeS3> {
  const server = createServer((request, response) => void respond(fake, request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeS3 = {
    endpoint,
    env: {
      ASSETS_S3_BUCKET: BUCKET,
      ASSETS_S3_ENDPOINT: endpoint,
      ASSETS_S3_PREFIX: 'tidings/',
      ASSETS_S3_ACCESS_KEY_ID: S3_KEY.id,
      ASSETS_S3_SECRET_ACCESS_KEY: S3_KEY.secret,
    },
    objects: new Map(),
    requests: [],
    mood: 'well',
    cutAt: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function respond(fake: FakeS3, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const [path = ''] = (request.url ?? '').split('?');
  const [, bucket, ...rest] = decodeURIComponent(path).split('/');
  const key = rest.join('/');
  fake.requests.push(`${request.method} ${key || bucket}`);
  if (fake.mood === 'away') return void request.socket.destroy();
  const refusal = typeof fake.mood === 'object' ? fake.mood : findS3RequestError(request, body, bucket);
  if (refusal) return refuse(response, refusal);
  performOperation(
    fake,
    { method: request.method ?? '', key, body, type: request.headers['content-type'] ?? '' },
    response,
  );
}

interface Operation {
  method: string;
  key: string;
  body: Buffer;
  type: string;
}

function performOperation(fake: FakeS3, { method, key, body, type }: Operation, response: ServerResponse): void {
  if (method === 'PUT') fake.objects.set(key, { content: body, type });
  if (method === 'DELETE') fake.objects.delete(key);
  if (fake.mood === 'silent') return;
  if (method === 'GET') sendObject(fake, key, response);
  else response.writeHead(method === 'DELETE' ? 204 : 200).end();
}

function sendObject({ objects, cutAt }: FakeS3, key: string, response: ServerResponse): void {
  const object = objects.get(key);
  if (!object) {
    refuse(response, { status: 404, code: 'NoSuchKey' });
    return;
  }
  response.writeHead(200, { 'content-type': object.type, 'content-length': object.content.length });
  if (cutAt === undefined) response.end(object.content);
  else response.write(object.content.subarray(0, cutAt), () => response.destroy());
}

/** Returns the status and code with which S3 refuses a request; undefined if key, body hash and bucket are right. */
function findS3RequestError({ headers }: IncomingMessage, body: Buffer, bucket: string | undefined) {
  const signed =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/[\w-]+\/s3\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/;
  const id = signed.exec(headers.authorization ?? '')?.[1];
  if (id === undefined) return { status: 403, code: 'AccessDenied' };
  if (id !== S3_KEY.id) return { status: 403, code: 'InvalidAccessKeyId' };
  const bodyHash = headers['x-amz-content-sha256'];
  if (bodyHash !== 'UNSIGNED-PAYLOAD' && bodyHash !== createHash('sha256').update(body).digest('hex')) {
    return { status: 400, code: 'XAmzContentSHA256Mismatch' };
  }
  return bucket === BUCKET ? undefined : { status: 404, code: 'NoSuchBucket' };
}

function refuse(response: ServerResponse, { status, code }: { status: number; code: string }): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>It is ${code}.</Message><RequestId>1</RequestId></Error>`,
  );
}
