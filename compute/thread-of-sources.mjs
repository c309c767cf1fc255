// The entry of a thread where the sources run as they are, in tests: Node reads TypeScript in a thread only by tsx.
import { register } from 'tsx/esm/api';

register();
await import('./thread.ts');
