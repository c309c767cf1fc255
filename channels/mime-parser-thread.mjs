// The thread of channels/mime-parser.ts. Plain JavaScript, so that it runs beside the compiled modules and beside their
// sources.
import { parentPort } from 'node:worker_threads';
import PostalMime from 'postal-mime';

parentPort?.on('message', async ({ raw, options }) => {
  try {
    const email = await PostalMime.parse(raw, options);
    // The bytes of files are transferred, not copied.
    const files = new Set(email.attachments.map(({ content }) => content.buffer ?? content));
    parentPort?.postMessage(
      { email },
      [...files].filter((file) => file instanceof ArrayBuffer),
    );
  } catch (error) {
    parentPort?.postMessage({ fault: error instanceof Error ? error.message : String(error) });
  }
});
