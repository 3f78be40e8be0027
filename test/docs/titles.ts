import { exists, type Page, textOf } from './repository.ts';

/** Tests in a browser as pages name them: `web-client-start`: "opens connected …", "another title". */
const NAMED = /`(web-client-[a-z-]+)`: ("[^"\n]+"(?:, "[^"\n]+")*)/g;

/** Titles of tests in a browser that a page names and that do not exist. In a title, `…` stands for any words. */
export function missingTitles({ text }: Page): readonly string[] {
  return [...text.matchAll(NAMED)].flatMap(([, file = '', titles = '']) => {
    const path = `test/browser/${file}.test.ts`;
    const source = exists(path) ? textOf(path) : '';
    return [...titles.matchAll(/"([^"]+)"/g)]
      .map(([, title = '']) => title)
      .filter((title) => !title.split('…').every((part) => source.includes(part.trim())) || source === '')
      .map((title) => `${file}: ${title}`);
  });
}
