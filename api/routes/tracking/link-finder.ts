import type { Logger } from 'pino';
import type { Compute } from '../../../compute/compute.ts';
import { createContentCache } from '../../../compute/content-cache.ts';
import { resolveLinkWithinBudget } from '../../../compute/contents.ts';
import type { Db } from '../../../db/connection.ts';
import { type LinkSource, listEmailsForClicks } from '../../../db/emails/emails.ts';
import { createGroupCommit, type GroupCommit } from '../../../db/group-commit.ts';
import { buildStoredVariables } from '../../../engine/sending/email-variables.ts';
import { TemplateError } from '../../../rules/content/template-error.ts';
import { describeFailure } from '../../../rules/failure-text.ts';

/** The number of concurrent queries: one is prepared while the other runs. A third query did not improve throughput. */
const LANES = 2;
/** Maximum number of emails in one query. */
const BATCH_MAX = 100;

export interface LinkFinder {
  /**
   * Returns the target of a link in an email. `index` is the number in the tracked URL. Undefined if the email has no
   * link with that number.
   */
  find(p: { emailId: string; index: string }): Promise<string | undefined>;
}

/**
 * Creates the finder of the targets of clicked links. It caches contents, because a content never changes. While two
 * queries for emails run, further clicks wait, and one query then reads the emails of all waiting clicks. A thousand
 * concurrent clicks then need about ten queries, and a single click does not wait.
 */
export function createLinkFinder(deps: { db: Db; compute: Compute; log: Pick<Logger, 'warn'> }): LinkFinder {
  const { db, compute, log } = deps;
  const contents = createContentCache(deps);
  const emails = createEmailLookup(db);
  return {
    async find({ emailId, index }) {
      if (!/^\d{1,4}$/.test(index)) return undefined;
      const email = await emails.add(emailId);
      if (!email) return undefined;
      try {
        // Compiles the content with tracked links, because the email was sent with them, even if the project has
        // switched tracking off since.
        const work = { projectId: email.projectId, kind: 'link' };
        const { ready } = await contents.get({ ...work, contentId: email.contentId, tracked: true });
        const link = ready.links[Number(index)];
        if (link === undefined) return undefined;
        return await resolveLinkWithinBudget(compute, work, { link, vars: buildStoredVariables(email) });
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        log.warn({ emailId, reason: describeFailure(error) }, 'a link of an email could not be resolved');
        return undefined;
      }
    },
  };
}

/** Creates the lookup of emails by id, which reads the emails that are requested at the same time in one query. */
function createEmailLookup(db: Db): GroupCommit<string, LinkSource | undefined> {
  return createGroupCommit({
    lanes: LANES,
    max: BATCH_MAX,
    queueOf: () => 'links',
    commit: async (emailIds) => {
      const found = new Map((await listEmailsForClicks(db, [...new Set(emailIds)])).map((email) => [email.id, email]));
      return emailIds.map((id) => found.get(id));
    },
  });
}
