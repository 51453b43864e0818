// A Chromium without a window, driven by its debugging protocol.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Calls `use` with a browser, and ends the browser. */
export async function withBrowser(use) {
  const profile = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-browser-'));
  // Root has no sandbox in a container, and the pages are ours.
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-port=0'];
  const chromium = spawn('chromium', [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const browser = await Connection.open(await addressOf(chromium));
    const { targetId } = await browser.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.call('Target.attachToTarget', { targetId, flatten: true });
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await browser.call(`${domain}.enable`, {}, sessionId);
    return await use(new Tab(browser, sessionId));
  } finally {
    chromium.kill('SIGKILL');
    await once(chromium, 'exit');
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** The address of the debugging protocol, which Chromium prints. */
async function addressOf({ stderr }) {
  for await (const line of createInterface({ input: stderr })) {
    const [, address] = /DevTools listening on (ws:\S+)/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('chromium ended before it listened');
}

/** Requests and events by JSON over a WebSocket. */
class Connection {
  #socket;
  #last = 0;
  #pending = new Map();
  listeners = new Set();

  static async open(address) {
    const socket = new WebSocket(address);
    await once(socket, 'open');
    return new Connection(socket);
  }

  constructor(socket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data)));
  }

  call(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject, method }));
  }

  #receive({ id, result, error, method, params }) {
    if (id === undefined) {
      for (const listener of this.listeners) listener(method, params);
      return;
    }
    const { resolve, reject, method: called } = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) reject(new Error(`${called}: ${error.message}`));
    else resolve(result);
  }
}

class Tab {
  #browser;
  #session;

  constructor(browser, session) {
    this.#browser = browser;
    this.#session = session;
  }

  #call(method, params) {
    return this.#browser.call(method, params, this.#session);
  }

  /** Opens a page in a window of that size. Returns what went wrong: errors of scripts, and requests that failed. */
  async open(url, { width, height = 900, dark = false, patience = 60_000 }) {
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
    await this.#call('Emulation.setEmulatedMedia', { features });
    await this.#call('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    const problems = [];
    const idle = Promise.withResolvers();
    const timer = setTimeout(() => idle.reject(new Error(`${url}: not loaded after ${patience / 1000} s`)), patience);
    const listener = (method, params) => {
      const problem = problemOf(method, params);
      if (problem) problems.push(problem);
      if (method === 'Page.lifecycleEvent' && params.name === 'networkIdle') idle.resolve();
    };
    await this.#call('Page.setLifecycleEventsEnabled', { enabled: true });
    this.#browser.listeners.add(listener);
    try {
      // Events of the page before are over: about:blank has none.
      await this.#call('Page.navigate', { url });
      await idle.promise;
    } finally {
      clearTimeout(timer);
      this.#browser.listeners.delete(listener);
    }
    return problems;
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Returns a PNG of the window. */
  async picture() {
    const { data } = await this.#call('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(data, 'base64');
  }
}

function problemOf(method, params) {
  if (method === 'Runtime.exceptionThrown') return params.exceptionDetails.exception?.description;
  if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type))
    return params.args.map(({ value, description }) => value ?? description).join(' ');
  if (method === 'Log.entryAdded' && params.entry.level === 'error')
    return `${params.entry.text} ${params.entry.url ?? ''}`;
  if (method === 'Network.requestWillBeSent' && !/^(http:\/\/127\.0\.0\.1[:/]|data:|about:)/.test(params.request.url))
    return `asks another server: ${params.request.url}`;
  return undefined;
}
