import { text } from '../strings.ts';
import { Logo } from './logo.tsx';

/** The web client is the folder above this page, unless this page stands by itself (`apus topics page`). */
const CLIENT = '../#/messages';

/** The name of the product: the way to the web client where a node serves both. */
export function Brand() {
  const named = document.querySelector<HTMLMetaElement>('meta[name="apus-document"]')?.content;
  const name = (
    <>
      <Logo /> {text.product}
    </>
  );
  if (named?.startsWith('../') !== true) return <span className="brand">{name}</span>;
  return (
    <a className="brand" href={CLIENT} title={text.client}>
      {name}
    </a>
  );
}
