// The first file that a thread runs if the process runs from the TypeScript sources, as in tests. Node needs tsx to
// load TypeScript in a thread.
import { register } from 'tsx/esm/api';

register();
await import('./thread.ts');
