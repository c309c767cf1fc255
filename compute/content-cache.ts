import { type CompiledContent, compileContent } from '../domain/content.ts';
import { Lru } from '../domain/lru.ts';
import type { Db } from './connection.ts';
import { type Content, findContents } from './contents.ts';

/** Contents kept compiled in a process: those of the campaigns and templates in use; a body of its own for each mail passes through. */
const CONTENTS_MAX = 300;

export interface ReadyContent {
  content: Content;
  compiled: CompiledContent;
}

export interface ContentCache {
  /** @throws TemplateError when it does not compile; Error when there is none */
  get(p: { projectId: string; contentId: string; tracked: boolean }): Promise<ReadyContent>;
}

/** Contents by id, compiled once: they never change, so nothing has to be told of a change. */
export function createContentCache(db: Db): ContentCache {
  const ready = new Lru<string, Promise<ReadyContent>>(CONTENTS_MAX);
  return {
    get(p) {
      const key = `${p.contentId} ${p.tracked}`;
      const kept = ready.get(key);
      if (kept) return kept;
      const made = compile(db, p);
      ready.set(key, made);
      // What failed is tried again: Postgres may have been away.
      made.catch(() => ready.delete(key));
      return made;
    },
  };
}

async function compile(db: Db, p: { projectId: string; contentId: string; tracked: boolean }): Promise<ReadyContent> {
  const content = (await findContents(db, { projectId: p.projectId, ids: [p.contentId] })).get(p.contentId);
  if (!content) throw new Error(`content ${p.contentId} is missing`);
  const { subject, body, type } = content;
  const compiled = compileContent({ subject, body, type, trackOpens: p.tracked, trackClicks: p.tracked });
  return { content, compiled };
}
