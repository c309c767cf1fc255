import { addAbortSignal, type Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { BucketSettings } from '../../rules/config.ts';
import { createSharedPromise } from '../../rules/shared-promise.ts';

/** The time limit for one operation, including its retries and the transfer; an image has at most 5 MB. */
const OPERATION_MS = 20_000;
const CONNECT_MS = 3_000;
/** A store that sends no data for this long counts as unreachable. */
const SILENCE_MS = 8_000;
/**
 * The SDK attempts an operation this many times when the failure is temporary. Every operation of this file may safely
 * run twice.
 */
const ATTEMPTS = 2;
const MAX_SOCKETS = 50;
/** The maximum length of an error message. Some stores send a whole HTML page as an error. */
const REASON_MAX_CHARS = 300;

/** A bucket of an S3-compatible store. The caller passes complete keys, which include the prefix from the settings. */
export interface Bucket {
  /**
   * Stores an object. Replaces an object that has the same key.
   * @throws BucketError
   */
  put(key: string, content: Uint8Array, contentType: string): Promise<void>;
  /**
   * Returns the object's bytes in pieces. Undefined when the object does not exist.
   * @throws BucketError, also between two pieces
   */
  get(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes an object. Does nothing if the object does not exist. @throws BucketError */
  remove(key: string): Promise<void>;
  /** Checks that the bucket exists and accepts our credentials. @throws BucketError */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A failed operation. The message is one line: the store's reply, or the reason why no reply came. */
export class BucketError extends Error {
  constructor(cause: unknown) {
    super(describeStoreError(cause), { cause });
    this.name = 'BucketError';
  }
}

type Sdk = typeof import('@aws-sdk/client-s3');
interface Opened {
  client: S3Client;
  sdk: Sdk;
}

/**
 * Creates the bucket without connecting. The SDK is loaded at the first operation, because loading takes 100 ms and 20
 * MB of memory.
 */
export function openBucket(settings: BucketSettings): Bucket {
  const Bucket = settings.bucket;
  const opened = createSharedPromise(() => openClient(settings));

  async function run<T>(operation: (opened: Opened, signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await operation(await opened.get(), AbortSignal.timeout(OPERATION_MS));
    } catch (error) {
      throw new BucketError(error);
    }
  }

  return {
    put: (key, content, ContentType) =>
      run(async ({ client, sdk }, abortSignal) => {
        const input = { Bucket, Key: key, Body: content, ContentType };
        await client.send(new sdk.PutObjectCommand(input), { abortSignal });
      }),
    get: (key) =>
      run(async ({ client, sdk }, abortSignal) => {
        try {
          const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: key }), { abortSignal });
          return readPieces(addAbortSignal(abortSignal, Body as unknown as Readable));
        } catch (error) {
          if (error instanceof sdk.NoSuchKey) return undefined;
          throw error;
        }
      }),
    remove: (key) =>
      run(async ({ client, sdk }, abortSignal) => {
        await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }), { abortSignal });
      }),
    check: () =>
      run(async ({ client, sdk }, abortSignal) => {
        await client.send(new sdk.HeadBucketCommand({ Bucket }), { abortSignal });
      }),
    close: async () => (await opened.current)?.client.destroy(),
  };
}

async function openClient({ region, endpoint, credentials }: BucketSettings): Promise<Opened> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region,
    endpoint,
    credentials,
    maxAttempts: ATTEMPTS,
    // Stores other than AWS have one host name for all buckets, so the bucket's name is in the path.
    forcePathStyle: endpoint !== undefined,
    // Stores other than AWS may not support the checksums that the SDK adds by default. The request's signature already
    // protects the body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
    },
  });
  return { client, sdk };
}

async function* readPieces(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new BucketError(error);
  }
}

interface SdkError {
  name?: string;
  message?: string;
  $metadata?: { httpStatusCode?: number };
}

/**
 * Returns the error code and the message of the store. The response to a refused HEAD request has no body, so the text
 * then has only the HTTP status.
 */
function describeStoreError(error: unknown): string {
  const { name, message, $metadata }: SdkError = typeof error === 'object' && error !== null ? error : {};
  const status = $metadata?.httpStatusCode;
  const reply = [name, message].filter((word) => word && !/^(Error|Unknown|UnknownError)$/.test(word)).join(': ');
  const code = status === undefined ? '' : `${reply && ' '}(HTTP ${status})`;
  return `${reply}${code}`.split('\n')[0]?.slice(0, REASON_MAX_CHARS) || String(error);
}
