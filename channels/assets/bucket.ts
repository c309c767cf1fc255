import { addAbortSignal, type Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { BucketSettings } from '../../rules/config.ts';

/** The time limit for one operation, including its retries and the transfer; an image has at most 5 MB. */
const OPERATION_MS = 20_000;
const CONNECT_MS = 3_000;
/** A store that is silent for this long counts as unreachable. */
const SILENCE_MS = 8_000;
/** The SDK retries temporary failures, because every operation may run twice. */
const ATTEMPTS = 2;
const MAX_SOCKETS = 50;
/** Some stores send pages of HTML. */
const REASON_MAX_CHARS = 300;

/** A bucket of an S3-compatible store. Keys are complete: their creator adds the prefix of the settings. */
export interface Bucket {
  /** Stores an object, replacing one with this key. @throws BucketError */
  put(key: string, content: Uint8Array, contentType: string): Promise<void>;
  /**
   * Reads the object's bytes in pieces; undefined when it does not exist. @throws BucketError, also between two pieces
   */
  get(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes an object. Does nothing if the object does not exist. @throws BucketError */
  remove(key: string): Promise<void>;
  /** Checks that the bucket exists and accepts our credentials. @throws BucketError */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The store's reply, or the reason for a missing reply, in one line. */
export class BucketError extends Error {
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    this.name = 'BucketError';
  }
}

type Sdk = typeof import('@aws-sdk/client-s3');
interface Opened {
  client: S3Client;
  sdk: Sdk;
}

/** Creates the bucket without connecting. The SDK is loaded with the first operation, which takes 100 ms and 20 MB. */
export function openBucket(settings: BucketSettings): Bucket {
  const Bucket = settings.bucket;
  let opened: Promise<Opened> | null = null;

  async function run<T>(operation: (opened: Opened, signal: AbortSignal) => Promise<T>): Promise<T> {
    opened ??= openClient(settings);
    try {
      return await operation(await opened, AbortSignal.timeout(OPERATION_MS));
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
          return pieces(addAbortSignal(abortSignal, Body as unknown as Readable));
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
    close: async () => (await opened)?.client.destroy(),
  };
}

async function openClient({ region, endpoint, credentials }: BucketSettings): Promise<Opened> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    region,
    endpoint,
    credentials,
    maxAttempts: ATTEMPTS,
    // Other stores have one host name for all buckets.
    forcePathStyle: endpoint !== undefined,
    // Other stores do not know the checksums that the SDK adds by default. The signature covers the unchanged body.
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

async function* pieces(body: Readable): AsyncGenerator<Uint8Array> {
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

/** Returns the code and the message of S3. The response to a refused HEAD has no body, so only its status is known. */
function reasonOf(error: unknown): string {
  const { name, message, $metadata }: SdkError = typeof error === 'object' && error !== null ? error : {};
  const status = $metadata?.httpStatusCode;
  const reply = [name, message].filter((word) => word && !/^(Error|Unknown|UnknownError)$/.test(word)).join(': ');
  const code = status === undefined ? '' : `${reply && ' '}(HTTP ${status})`;
  return `${reply}${code}`.split('\n')[0]?.slice(0, REASON_MAX_CHARS) || String(error);
}
