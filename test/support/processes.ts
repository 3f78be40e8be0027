import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly isZombie: boolean;
  readonly args: string;
}

function all(): Process[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs();
}

/** Read from Linux's /proc, where `ps` need not be installed. */
function fromProc(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // The name of the program, in parentheses, may contain any character.
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const args = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').join(' ').trim();
        return [
          {
            pid: Number(name),
            parent: Number(parent),
            group: Number(group),
            isZombie: state === 'Z',
            args,
          },
        ];
      } catch {
        // The process has ended meanwhile.
        return [];
      }
    });
}

function fromPs(): Process[] {
  const text = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, args = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        isZombie: !!state?.startsWith('Z'),
        args,
      },
    ];
  });
}

/** The process, its descendants, and all processes in groups which these have created. */
export function familyOf(pid: number): Process[] {
  const everything = all();
  const found = new Set([pid]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const each of everything)
      if (found.has(each.parent) || (found.has(each.group) && each.group !== pid)) found.add(each.pid);
  }
  return everything.filter((each) => found.has(each.pid));
}

/** The processes that still run. A zombie does not. */
export function running(processes: readonly Process[]): Process[] {
  const now = new Map(all().map((each) => [each.pid, each]));
  return processes.filter(({ pid, args }) => {
    const found = now.get(pid);
    return found !== undefined && !found.isZombie && found.args === args;
  });
}
