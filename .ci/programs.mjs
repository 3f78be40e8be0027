// The programs of others that some tests use. Where one is missing its tests are skipped, and the last lines of a run
// name the command that installs it; `npm run test:prepare` runs that command.

export const PROGRAMS = {
  bash: { title: 'Bash', commands: [['bash']], apt: ['bash'], brew: ['bash'] },
  browser: {
    title: 'Chromium',
    commands: [['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']],
    apt: ['chromium'],
    brew: ['chromium'],
  },
  caddy: { title: 'Caddy', commands: [['caddy']], apt: ['caddy'], brew: ['caddy'] },
  engine: {
    title: 'Valkey or Redis',
    commands: [['valkey-server', 'redis-server']],
    apt: ['redis-server'],
    brew: ['valkey'],
  },
  haproxy: { title: 'HAProxy', commands: [['haproxy']], apt: ['haproxy'], brew: ['haproxy'] },
  kafka: {
    title: 'Java 17 and Maven',
    commands: [['java'], ['mvn']],
    apt: ['default-jre-headless', 'maven'],
    brew: ['openjdk', 'maven'],
  },
  mosquitto: { title: 'Mosquitto', commands: [['mosquitto']], apt: ['mosquitto'], brew: ['mosquitto'] },
  nginx: {
    title: 'nginx with its stream module',
    commands: [['nginx']],
    // Debian has the module in a package of its own; elsewhere it is built in.
    probe: [
      'sh',
      '-c',
      'PATH=$PATH:/usr/sbin; nginx -V 2>&1 | grep -q -- "--with-stream[^_=]" || test -e "$(nginx -V 2>&1 | sed -n "s/.*--modules-path=\\([^ ]*\\).*/\\1/p")/ngx_stream_module.so"',
    ],
    apt: ['nginx', 'libnginx-mod-stream'],
    brew: ['nginx'],
  },
  openssl: { title: 'OpenSSL', commands: [['openssl']], apt: ['openssl'], brew: ['openssl'] },
  python: {
    title: 'Python 3.10 with venv',
    commands: [['python3']],
    // Debian has the module that makes an environment in a package of its own.
    probe: ['python3', '-c', 'import ensurepip, venv'],
    apt: ['python3', 'python3-venv'],
    brew: ['python'],
  },
};

/**
 * The command that installs programs; undefined where the package manager of the system is not known.
 * @param {readonly (keyof typeof PROGRAMS)[]} names
 * @param {NodeJS.Platform} platform
 */
export function installCommand(names, platform = process.platform) {
  if (platform === 'darwin') return ['brew', 'install', ...names.flatMap((name) => PROGRAMS[name].brew)];
  if (platform !== 'linux') return undefined;
  return [
    'apt-get',
    'install',
    '-y',
    '--no-install-recommends',
    ...names.flatMap((name) => PROGRAMS[name].apt),
  ];
}
