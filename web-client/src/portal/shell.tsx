import { useEffect, useRef, useState } from 'react';
import { About } from './about.tsx';
import type { PortalDocument } from './document/portal-document.ts';
import { jsonOf } from './document/read-document.ts';
import { text } from './strings.ts';
import { TopicList } from './topic-list.tsx';
import { TopicView } from './topic-view.tsx';
import { Brand } from './ui/brand.tsx';
import { addressIn, useHash } from './ui/location.ts';

interface ShellProps {
  readonly document: PortalDocument;
  /** Undefined: a link sends no token, so the fetched document is downloaded. */
  readonly documentUrl: string | undefined;
}

/** The list of topics, and the one that the address of the page names. */
export function Shell({ document, documentUrl }: ShellProps) {
  const address = addressIn(useHash());
  const topic = document.topics.find((each) => each.address === address);
  const [serverName, setServerName] = useState(document.servers[0]?.name);
  const server = document.servers.find(({ name }) => name === serverName) ?? document.servers[0];
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const title = topic?.title ?? document.title;

  useEffect(() => {
    window.document.title = topic === undefined ? title : `${title} – ${document.title}`;
    // The page has just been opened, so the focus stays at its top.
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    main.current?.focus();
    window.scrollTo(0, 0);
  }, [topic, title, document.title]);

  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {text.skip}
      </button>
      <header>
        <Brand />
        <a className="home" href="#/">
          {document.title}
        </a>
        {document.version !== '' && <span className="quiet">{text.version(document.version)}</span>}
        <DocumentLink document={document} url={documentUrl} />
      </header>
      <div className="columns">
        <TopicList document={document} current={topic} />
        <main ref={main} id="main" tabIndex={-1}>
          {topic === undefined ? (
            <About document={document} unknown={address} />
          ) : (
            <TopicView key={topic.address} {...{ topic, document, server }} onServer={setServerName} />
          )}
        </main>
      </div>
    </>
  );
}

function DocumentLink({ document, url }: Pick<ShellProps, 'document'> & { url: string | undefined }) {
  const [file, setFile] = useState<string>();
  useEffect(() => {
    if (url !== undefined) return;
    const made = URL.createObjectURL(
      new Blob([jsonOf(document.root, 2) ?? ''], { type: 'application/json' }),
    );
    setFile(made);
    return () => URL.revokeObjectURL(made);
  }, [document, url]);
  return (
    <a className="document" href={url ?? file} download={url === undefined ? 'asyncapi.json' : undefined}>
      {text.document}
    </a>
  );
}
