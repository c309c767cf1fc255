import type { Db } from '../db/connection.ts';
import { type Content, findContents } from '../db/contents/contents.ts';
import { toContentSource } from '../rules/content/content.ts';
import { Lru } from '../rules/lru.ts';
import type { Compute, Work } from './compute.ts';
import { compileForSending, type ReadyContent } from './contents.ts';

/**
 * The number of compiled contents that a process keeps: enough for the campaigns and templates in use. The least
 * recently used content is dropped first, so a body that is used for a single email rarely displaces contents in use.
 */
const CONTENTS_MAX = 300;

export interface StoredContent {
  content: Content;
  ready: ReadyContent;
}

export interface ContentCache {
  /** @throws TemplateError if the content does not compile; OverBudget; Error if the content does not exist */
  get(p: Work & { contentId: string; tracked: boolean }): Promise<StoredContent>;
}

/** Creates a cache of compiled contents by id. Contents never change, so entries never become stale. */
export function createContentCache({ db, compute }: { db: Db; compute: Compute }): ContentCache {
  const ready = new Lru<string, Promise<StoredContent>>(CONTENTS_MAX);
  return {
    get(p) {
      const key = `${p.contentId} ${p.tracked}`;
      const cached = ready.get(key);
      if (cached) return cached;
      const compiling = compile(p);
      ready.set(key, compiling);
      // A failure is not kept, because Postgres may have been unreachable. The next call compiles the content again.
      compiling.catch(() => ready.delete(key));
      return compiling;
    },
  };

  async function compile({ contentId, tracked, ...work }: Parameters<ContentCache['get']>[0]): Promise<StoredContent> {
    const content = (await findContents(db, { projectId: work.projectId, ids: [contentId] })).get(contentId);
    if (!content) throw new Error(`content ${contentId} is missing`);
    return { content, ready: await compileForSending(compute, work, toContentSource(content, tracked)) };
  }
}
