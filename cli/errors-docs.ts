import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderErrorsPage } from '../api/http/errors-page.ts';
import { packageRoot } from './package-root.ts';

// `node run.mjs errors-docs` writes docs/errors.md from the catalogue in rules/errors.ts.
writeFileSync(join(packageRoot(), 'docs', 'errors.md'), renderErrorsPage());
