import { z } from 'zod';
import { httpUrl, text } from './texts.ts';
import type { Environment, ValuesOf, Variables } from './variable.ts';

/** Variables for the storage of images: Postgres, or a bucket if one is set. */
export const ASSETS = {
  ASSETS_S3_BUCKET: {
    schema: z.string().regex(/^[\w.-]{1,255}$/),
    takes: 'the name of a bucket',
    defaultText: 'none: in Postgres',
    about: 'Bucket of an S3-compatible store for new images of emails. Set it for the API and the workers.',
  },
  ASSETS_S3_REGION: {
    schema: z.string().regex(/^[a-z0-9-]+$/),
    takes: 'a region such as eu-west-1',
    defaultText: '`AWS_REGION`; `us-east-1` with `ASSETS_S3_ENDPOINT`',
    about: 'Region of the bucket.',
  },
  ASSETS_S3_ENDPOINT: {
    schema: httpUrl,
    takes: 'an http:// or https:// address',
    defaultText: "AWS's own",
    about: 'Another server with the S3 API, such as MinIO. The URL path then contains the name of the bucket.',
  },
  ASSETS_S3_PREFIX: {
    schema: z.string().regex(/^[\w.-][\w./-]{0,199}$/),
    takes: 'letters, digits and ._-/ such as tidings/',
    defaultText: 'none',
    about: 'Prefix of object keys, if other programs use the bucket too.',
  },
  ASSETS_S3_ACCESS_KEY_ID: {
    schema: text,
    takes: 'the id of an access key',
    defaultText: "AWS's own variables",
    about: "Credentials that are used for the bucket only. Without this variable, AWS's own variables are used.",
  },
  ASSETS_S3_SECRET_ACCESS_KEY: {
    schema: text,
    takes: 'the secret of the access key',
    defaultText: "AWS's own variables",
    about: 'The secret that belongs to `ASSETS_S3_ACCESS_KEY_ID`.',
    secret: true,
  },
} as const satisfies Variables;

/** A bucket, and the settings to access it. */
export interface BucketSettings {
  bucket: string;
  /** Undefined if neither a region nor an endpoint is set. */
  region: string | undefined;
  /** Undefined means AWS's own endpoint. */
  endpoint: string | undefined;
  /** Added unchanged before every key. */
  prefix: string;
  /** Undefined means the credentials in AWS's own variables. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** Returns the bucket for images. Undefined keeps images in Postgres. */
export function readBucketSettings(values: ValuesOf<typeof ASSETS>, env: Environment): BucketSettings | undefined {
  if (values.ASSETS_S3_BUCKET === undefined) return undefined;
  const { ASSETS_S3_ENDPOINT: endpoint, ASSETS_S3_ACCESS_KEY_ID: id, ASSETS_S3_SECRET_ACCESS_KEY: secret } = values;
  return {
    bucket: values.ASSETS_S3_BUCKET,
    // Stores other than AWS ignore the region, but the signature of a request contains it.
    region: values.ASSETS_S3_REGION ?? (env.AWS_REGION || (endpoint && 'us-east-1')),
    endpoint,
    prefix: values.ASSETS_S3_PREFIX ?? '',
    credentials: id !== undefined && secret !== undefined ? { accessKeyId: id, secretAccessKey: secret } : undefined,
  };
}

/** Returns the missing variable that a bucket requires. Undefined if none is missing. */
export function findMissingBucketVariable(bucket: BucketSettings | undefined): keyof typeof ASSETS | undefined {
  return bucket !== undefined && bucket.region === undefined ? 'ASSETS_S3_REGION' : undefined;
}
