import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { fetchDebianFiles } from '../debian-packages.ts';

/**
 * Debian's packages: the headless shell, which needs half of the processor time of Chromium, and a font with Latin,
 * Arabic and Hebrew for machines without fonts.
 */
const PACKAGES = ['chromium-headless-shell', 'chromium-common', 'fonts-dejavu-core', 'fontconfig-config'];
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** A program and the environment that it needs. */
export interface Chromium {
  executablePath: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Returns the machine's Chromium (`CHROMIUM_PATH`, or the usual paths), else Debian's Chromium, unpacked in the user's
 * cache folder. If neither is available, returns the reason as a sentence.
 */
export async function findChromium(): Promise<Chromium | string> {
  const installed = [process.env.CHROMIUM_PATH, ...INSTALLED].find((path) => path && existsSync(path));
  if (installed) return { executablePath: installed, env: process.env };
  const files = await fetchDebianFiles(PACKAGES);
  if (typeof files === 'string') return files;
  return {
    executablePath: join(files.root, 'usr', 'lib', 'chromium', 'chromium-headless-shell'),
    env: {
      ...files.env,
      // Fontconfig reads fonts from this folder too, and its own rules from the second folder.
      XDG_DATA_HOME: join(files.root, 'usr', 'share'),
      FONTCONFIG_PATH: join(files.root, 'etc', 'fonts'),
    },
  };
}

let launched: Promise<Browser> | undefined;

/**
 * The browser of this worker process, started by the first test that needs it. It ends with the process, because it
 * reads from a pipe of the process.
 */
export function launchChromium({ executablePath, env }: Chromium): Promise<Browser> {
  launched ??= chromium.launch({
    executablePath,
    env,
    // In containers, tests run as root, where Chromium's sandbox cannot start. The tests open only our own pages.
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none', '--force-color-profile=srgb'],
  });
  return launched;
}
