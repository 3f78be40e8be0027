import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOrSkip } from './program.ts';

const ENVIRONMENT = fileURLToPath(new URL('../../node_modules/.cache/apus/python', import.meta.url));
const INSTALLED = join(ENVIRONMENT, 'bin', 'python');
const PAHO = 'import paho.mqtt, sys; sys.exit(int(paho.mqtt.__version__ < "2"))';
const INSTALL_MS_MAX = 120_000;

/**
 * A Python with paho-mqtt, installed into a virtual environment if necessary. `APUS_PYTHON=PATH` selects another one.
 */
export function pythonOrSkip(): string | undefined {
  if (process.env.APUS_PYTHON === undefined && !hasPaho()) install();
  return programOrSkip({
    programs: [process.env.APUS_PYTHON, INSTALLED],
    args: ['-c', PAHO],
    status: 0,
    reason:
      'needs Python with venv, and paho-mqtt from its registry: or name a Python that has it in APUS_PYTHON',
  });
}

function hasPaho(): boolean {
  try {
    execFileSync(INSTALLED, ['-c', PAHO], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** After a failure here the program is missing, which the tests report. */
function install(): void {
  const options = { stdio: 'ignore', timeout: INSTALL_MS_MAX } as const;
  try {
    execFileSync('python3', ['-m', 'venv', ENVIRONMENT], options);
    execFileSync(INSTALLED, ['-m', 'pip', 'install', '--quiet', 'paho-mqtt>=2,<3'], options);
  } catch {
    // There is no Python, no venv, or no registry.
  }
}
