// A lamp at AWS IoT Core, and a broker whose bridge makes it visible to browsers. Without an account a Mosquitto stands
// in for IoT Core: each client authenticates with a certificate, too (`npm run example iot-bridge`).
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mqtt from 'mqtt';

/** `npm run example` builds it; tests name one that they have built. */
const BUILT = fileURLToPath(new URL('../../packages/cli/dist/apus.js', import.meta.url));
const COMMAND = process.env.APUS_COMMAND ?? BUILT;
const PORT = process.env.APUS_PORT ?? '8083';
const STATE_MS = 1_000;
/** Debian installs it in a folder that only administrators have in their PATH. */
const MOSQUITTO = ['mosquitto', '/usr/sbin/mosquitto'];

const folder = mkdtempSync(join(tmpdir(), 'apus-iot-bridge-'));
const children = [];
process.once('exit', () => {
  for (const child of children) child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(0));

/** A certificate authority, and a certificate for each of the three. */
function makeCertificates() {
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  openssl('req', '-x509', ...key, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost');
  for (const name of ['server', 'bridge', 'lamp']) {
    openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const signed = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-extfile',
      'names',
      '-days',
      '1',
    ];
    openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function startStandIn(port) {
  const lines = [
    `listener ${port} 127.0.0.1`,
    ...['cafile ca.pem', 'certfile server.pem', 'keyfile server.key'].map((line) => {
      const [name, file] = line.split(' ');
      return `${name} ${join(folder, file)}`;
    }),
    ...['require_certificate true', 'allow_anonymous true', 'user root'],
  ];
  writeFileSync(join(folder, 'mosquitto.conf'), `${lines.join('\n')}\n`);
  for (const program of MOSQUITTO) {
    const child = spawn(program, ['-c', join(folder, 'mosquitto.conf')], { stdio: 'ignore' });
    const isThere = await Promise.race([
      once(child, 'spawn'),
      once(child, 'error').then(() => undefined),
    ]).catch(() => undefined);
    if (isThere === undefined) continue;
    children.push(child);
    return;
  }
  throw new Error('Mosquitto stands in for IoT Core, and is not installed: apt-get install mosquitto.');
}

/**
 * The lamp, in place of a program with the device SDK: it publishes every second whether it is on, and obeys commands.
 */
async function startLamp(url) {
  const [ca, cert, key] = ['ca.pem', 'lamp.pem', 'lamp.key'].map((name) => readFileSync(join(folder, name)));
  const lamp = mqtt.connect(url, {
    clientId: 'lamp',
    protocolVersion: 5,
    ca,
    cert,
    key,
    reconnectPeriod: 200,
    reconnectOnConnackError: true,
  });
  let isOn = false;
  lamp.on('message', (_, payload) => {
    isOn = payload.toString() === 'on';
    console.log(`The lamp is ${isOn ? 'on' : 'off'}.`);
  });
  lamp.on('connect', () => lamp.subscribe('things/lamp/set', { qos: 1 }));
  setInterval(() => lamp.publish('things/lamp/state', isOn ? 'on' : 'off', { qos: 1 }), STATE_MS);
}

function startBroker(port) {
  const tls = { ca: 'ca.pem', certificate: 'bridge.pem', key: 'bridge.key' };
  const bridge = {
    name: 'things',
    iotCore: { endpoint: `localhost:${port}`, tls },
    in: [{ filter: 'things/+/state' }],
    out: [{ filter: 'things/+/set' }],
  };
  const file = join(folder, 'bridges.json');
  writeFileSync(file, JSON.stringify({ bridges: [bridge] }));
  const child = spawn(process.execPath, [COMMAND, 'serve', '--port', PORT, '--bridges', file], {
    stdio: 'inherit',
  });
  children.push(child);
  child.once('exit', (code) => process.exit(code ?? 1));
}

try {
  makeCertificates();
  const port = await freePort();
  await startStandIn(port);
  startBroker(port);
  await startLamp(`mqtts://localhost:${port}`);
  console.log(`In other terminals:
  npx apus sub --url ws://127.0.0.1:${PORT}/mqtt -t 'things/#' -v        the lamp says each second what it is
  npx apus pub --url ws://127.0.0.1:${PORT}/mqtt -t things/lamp/set -m on   turns it on
Ctrl+C stops all of it.`);
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
