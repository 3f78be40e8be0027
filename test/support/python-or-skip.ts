import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOrSkip } from './program.ts';

const ENVIRONMENT = fileURLToPath(new URL('../../node_modules/.cache/apus/python', import.meta.url));
const INSTALLED = join(ENVIRONMENT, 'bin', 'python');
const PAHO = 'import paho.mqtt, sys; sys.exit(int(paho.mqtt.__version__ < "2"))';
const INSTALL_MS_MAX = 120_000;

/** A Python with paho-mqtt, which a virtual environment gets where there is none yet. `APUS_PYTHON=PATH`: that one. */
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

/** A failure here shows in the program that is then missing. */
function install(): void {
  const options = { stdio: 'ignore', timeout: INSTALL_MS_MAX } as const;
  try {
    execFileSync('python3', ['-m', 'venv', ENVIRONMENT], options);
    execFileSync(INSTALLED, ['-m', 'pip', 'install', '--quiet', 'paho-mqtt>=2,<3'], options);
  } catch {
    // No Python, no venv, or no registry.
  }
}
