import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that wait for a browser, for processes or for Temporal take longest. If such a file started last, it would
 * run alone at the end.
 */
const LONGEST_FIRST = [
  'test/dashboard/',
  'test/durability/',
  'test/cli/',
  'test/workflows/',
  'test/channels/',
  'test/',
];

/**
 * Orders the files that run in parallel by their folder in `LONGEST_FIRST`. Within a folder, files that were slow in
 * the last run come first. Without a record of the last run, large files come first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const root = this.ctx.config.root;
    const getRank = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST_FIRST.findIndex((folder) => relative(root, moduleId).startsWith(folder));
      return rank < 0 ? LONGEST_FIRST.length : rank;
    };
    return sorted.sort((a, b) => getRank(a) - getRank(b));
  }
}
