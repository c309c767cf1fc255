import { openBucket } from '../../channels/assets/bucket.ts';
import { countBucketObjects } from '../../db/assets/leftovers.ts';
import type { BucketSettings } from '../../rules/config.ts';
import { pluralize } from '../../rules/pluralize.ts';
import { findInnermostReason } from '../database-error.ts';
import type { Deployment } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding } from './report.ts';

/**
 * Checks that the bucket for images exists and accepts the credentials. If no bucket is configured, checks that no
 * stored image needs a bucket.
 */
export const imagesCheck: DoctorCheck = {
  name: 'images',
  run: async (deployment) =>
    deployment.settings.assetsBucket
      ? [await checkBucket(deployment.settings.assetsBucket)]
      : [await checkWithoutBucket(deployment)],
};

async function checkBucket(settings: BucketSettings): Promise<DoctorFinding> {
  const where = `the bucket ${settings.bucket} ${settings.endpoint ? `at ${settings.endpoint}` : `in ${settings.region}`}`;
  const bucket = openBucket(settings);
  try {
    await bucket.check();
    return passFinding(`${where} accepts our credentials`);
  } catch (error) {
    const remedy =
      'check ASSETS_S3_*: bucket, region, endpoint and credentials; they need s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject';
    return failFinding(`${where} cannot be used: ${findInnermostReason(error)}`, remedy);
  } finally {
    await bucket.close();
  }
}

async function checkWithoutBucket({ postgres }: Deployment): Promise<DoctorFinding> {
  const inspected = await postgres();
  // A database with pending migrations may lack the column.
  const imagesInBucket = 'reason' in inspected ? 0 : await countBucketObjects(inspected.db).catch(() => 0);
  if (imagesInBucket === 0) return passFinding('images are stored in Postgres');
  return failFinding(
    `emails cannot show ${pluralize(imagesInBucket, 'image')}: stored in a bucket that is not configured`,
    'set ASSETS_S3_BUCKET and its other variables to the values with which these images were uploaded',
  );
}
