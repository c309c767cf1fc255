import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { VARIABLES } from '../rules/config.ts';
import { packageRoot } from './package-root.ts';

const BEGIN = '<!-- table: made by `node run.mjs config-docs` from rules/config.ts -->';
const END = '<!-- end of table -->';

interface Documented {
  readonly takes: string;
  readonly about: string;
  readonly default?: string;
  readonly defaultText?: string;
}

/** Path of the page with the table of variables. */
export const CONFIGURATION_PAGE = join(packageRoot(), 'docs', 'configuration.md');

/** Returns the page with its table generated from the list of variables. */
export function withTable(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${table()}\n${END}${after}`;
}

function table(): string {
  const rows = Object.entries<Documented>(VARIABLES).map(([name, variable]) => {
    const cells = [`\`${name}\``, defaultOf(variable), variable.takes, variable.about];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| Variable | Default | Takes | |', '|---|---|---|---|', ...rows].join('\n');
}

function defaultOf(variable: Documented): string {
  return variable.defaultText ?? (variable.default ? `\`${variable.default}\`` : '');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(CONFIGURATION_PAGE, withTable(readFileSync(CONFIGURATION_PAGE, 'utf8')));
}
