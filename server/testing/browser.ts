import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const USUAL_PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Quiet: a browser that asks for nothing on its own, so that a test sees only what the page asks for. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a headless Chromium: that of CHROMIUM_PATH, or the installed one. Throws when there is none. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? USUAL_PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error('Tests of pages need Chromium: install it (apt-get install chromium) or name it in CHROMIUM_PATH.');
  }
  return chromium.launch({ executablePath, args: ARGUMENTS });
}
