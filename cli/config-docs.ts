import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VARIABLES } from '../rules/config.ts';
import { wrapListItem } from '../rules/markdown-list.ts';
import { packageRoot } from './package-root.ts';

const BEGIN = '<!-- list: made by `node run.mjs config-docs` from rules/config.ts -->';
const END = '<!-- end of list -->';

interface Documented {
  readonly takes: string;
  readonly about: string;
  readonly default?: string;
  readonly defaultText?: string;
}

/** The path of the page with the table of environment variables. */
export const CONFIGURATION_PAGE = join(packageRoot(), 'docs', 'configuration.md');

/** Returns the page with a new table of environment variables, generated from rules/config.ts. */
export function insertVariableTable(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${formatVariables()}\n${END}${after}`;
}

function formatVariables(): string {
  return Object.entries<Documented>(VARIABLES)
    .map(([name, variable]) =>
      wrapListItem(`\`${name}\`: ${variable.about} Value: ${variable.takes}.${formatDefault(variable)}`),
    )
    .join('\n');
}

function formatDefault(variable: Documented): string {
  const value = variable.defaultText ?? (variable.default ? `\`${variable.default}\`` : '');
  return value ? ` Default: ${value}.` : '';
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(CONFIGURATION_PAGE, insertVariableTable(readFileSync(CONFIGURATION_PAGE, 'utf8')));
}
