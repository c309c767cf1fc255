import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import { createContentCache } from '../db/content-cache.ts';
import { untrustedOf, variablesOf } from '../db/email-variables.ts';
import { type LinkSource, listLinkSources } from '../db/emails.ts';
import { resolveLink } from '../domain/content.ts';
import { TemplateError } from '../domain/template-error.ts';

/** Queries at a time: one is made while the other runs; a third brought nothing. */
const LANES = 2;
/** Mails of one query at most. */
const BATCH_MAX = 100;

export interface LinkFinder {
  /** Where a link of a mail leads, `index` as it stands in its address; undefined when the mail has no such link. */
  find(p: { emailId: string; index: string }): Promise<string | undefined>;
}

/**
 * Resolves the links that people click. Contents are kept, since they never change; mails are looked up together with those that were
 * asked for while the last lookup ran, so that a rush of clicks costs Postgres a few queries and a lone click does not wait.
 */
export function createLinkFinder({ db, log }: { db: Db; log: Pick<Logger, 'warn'> }): LinkFinder {
  const contents = createContentCache(db);
  const findEmail = createEmailLookup(db);
  return {
    async find({ emailId, index }) {
      if (!/^\d{1,4}$/.test(index)) return undefined;
      const email = await findEmail(emailId);
      if (!email) return undefined;
      try {
        // Compiled as tracked: the token was made for a mail that was, whatever the project's mode is now.
        const ready = await contents.get({ projectId: email.projectId, contentId: email.contentId, tracked: true });
        const link = ready.compiled.links[Number(index)];
        return link && resolveLink(link, variablesOf(email), untrustedOf(email));
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        log.warn({ emailId, reason: error.message }, 'the link of a mail could not be made');
        return undefined;
      }
    },
  };
}

interface Asked {
  emailId: string;
  resolve: (email: LinkSource | undefined) => void;
  reject: (error: unknown) => void;
}

/** Looks mails up in groups, without a timer. */
function createEmailLookup(db: Db): (emailId: string) => Promise<LinkSource | undefined> {
  const asked: Asked[] = [];
  let running = 0;

  function pump(): void {
    while (running < LANES && asked.length > 0) {
      const batch = asked.splice(0, BATCH_MAX);
      running += 1;
      void look(batch).finally(() => {
        running -= 1;
        pump();
      });
    }
  }

  async function look(batch: Asked[]): Promise<void> {
    try {
      const ids = [...new Set(batch.map(({ emailId }) => emailId))];
      const found = new Map((await listLinkSources(db, ids)).map((email) => [email.id, email]));
      for (const { emailId, resolve } of batch) resolve(found.get(emailId));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (emailId) =>
    new Promise((resolve, reject) => {
      asked.push({ emailId, resolve, reject });
      pump();
    });
}
