import { runSoak } from '../bench/soak/run.ts';

// `npm run soak [-- --minutes N --seed N]`: load and faults together, and the proof that everything accepted was
// served.
process.exit(await runSoak(process.argv.slice(2)));
