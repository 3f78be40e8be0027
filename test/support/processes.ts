import { execFileSync } from 'node:child_process';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly isZombie: boolean;
  readonly args: string;
}

function all(): Process[] {
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

/** The process, its children and theirs, and all that are in groups which these have begun. */
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

/** Those that still run. One whose end its parent has not looked at does not. */
export function running(processes: readonly Process[]): Process[] {
  const now = new Map(all().map((each) => [each.pid, each]));
  return processes.filter(({ pid, args }) => {
    const found = now.get(pid);
    return found !== undefined && !found.isZombie && found.args === args;
  });
}
