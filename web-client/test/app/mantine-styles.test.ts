import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const CLIENT = join(import.meta.dirname, '..', '..');
const STYLES = join(CLIENT, 'node_modules', '@mantine', 'core', 'styles');

it('imports the styles of every Mantine component that the page uses', () => {
  const imported = readFileSync(join(CLIENT, 'src', 'app', 'mantine.css'), 'utf8');
  const paths = readdirSync(join(CLIENT, 'src'), { recursive: true, encoding: 'utf8' });
  const names = paths
    .filter((path) => path.endsWith('.tsx'))
    .flatMap((path) => usedIn(join(CLIENT, 'src', path)));
  expect(names).toContain('Button');
  const styled = [...new Set(names)].filter((name) => existsSync(join(STYLES, `${name}.css`)));
  expect(styled.filter((name) => !imported.includes(`/${name}.css"`))).toEqual([]);
});

function usedIn(path: string): string[] {
  const imports = readFileSync(path, 'utf8').matchAll(/import \{([^}]*)\} from '@mantine\/core'/g);
  return [...imports].flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));
}
