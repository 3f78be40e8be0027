import { dirname, join } from 'node:path/posix';
import { exists, type Page, proseOf, textOf } from './repository.ts';

/** Links of a page whose target in the repository does not exist. Links to other sites are not checked. */
export function brokenLinks(page: Page): readonly string[] {
  return [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(?:https?|mailto):/.test(target) && !leadsSomewhere(page, target));
}

function leadsSomewhere(page: Page, target: string): boolean {
  const [relative = '', anchor] = target.split('#');
  const path = relative === '' ? page.path : join(dirname(page.path), decodeURIComponent(relative));
  if (!exists(path)) return false;
  return anchor === undefined || !path.endsWith('.md') || anchorsOf(textOf(path)).has(anchor);
}

/** The anchors that GitHub gives headings: small letters, digits, and a hyphen for each space. */
function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf({ path: '', text }).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => {
    const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return new Set(anchors);
}
