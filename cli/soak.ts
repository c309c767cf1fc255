import { runSoak } from '../bench/soak/run.ts';

// `npm run soak [-- --minutes N --seed N]`: runs load and failures together, and proves that all accepted work was
// done.
process.exit(await runSoak(process.argv.slice(2)));
