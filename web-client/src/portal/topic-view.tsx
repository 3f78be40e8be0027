import { useState } from 'react';
import { TokenHelp } from './about.tsx';
import type { PortalDocument, PortalServer, PortalTopic } from './document/portal-document.ts';
import type { Values } from './document/topic-of.ts';
import { Examples } from './examples.tsx';
import { Parameters } from './parameters.tsx';
import { Programs } from './programs.tsx';
import { SchemaView } from './schema/schema-view.tsx';
import { StreamPast } from './stream-past.tsx';
import { text } from './strings.ts';
import { linkTo } from './ui/location.ts';
import { Prose } from './ui/prose.tsx';

interface TopicViewProps {
  readonly topic: PortalTopic;
  readonly document: PortalDocument;
  readonly server: PortalServer | undefined;
  onServer(name: string): void;
}

/** Everything about one topic. */
export function TopicView({ topic, document, server, onServer }: TopicViewProps) {
  const [values, setValues] = useState<Values>({});
  const [rewind, setRewind] = useState('');
  const begins = topic.stream === undefined || rewind === '' ? undefined : rewind;
  return (
    <article>
      <h1>{topic.title}</h1>
      <p className="address">
        <code>{topic.address}</code> <a href={linkTo(topic.address)}>{text.link}</a>
      </p>
      {topic.description !== undefined && <Prose>{topic.description}</Prose>}
      <Facts topic={topic} />
      {topic.parameters.length > 0 && (
        <section aria-labelledby="parameters">
          <h2 id="parameters">{text.parameters}</h2>
          <Parameters parameters={topic.parameters} values={values} onChange={setValues} />
        </section>
      )}
      <section aria-labelledby="payload">
        <h2 id="payload">{text.payload}</h2>
        {topic.schema === undefined ? (
          <p>{text.noSchema}</p>
        ) : (
          <SchemaView schema={topic.schema} root={document.root} />
        )}
      </section>
      {topic.examples.length > 0 && (
        <section aria-labelledby="examples">
          <h2 id="examples">{text.examples}</h2>
          <Examples examples={topic.examples} />
        </section>
      )}
      {topic.stream !== undefined && (
        <section aria-labelledby="past">
          <h2 id="past">{text.streamTitle}</h2>
          <StreamPast stream={topic.stream} rewind={rewind} onRewind={setRewind} />
        </section>
      )}
      <section aria-labelledby="token">
        <h2 id="token">{text.getToken}</h2>
        <TokenHelp document={document} />
      </section>
      {server !== undefined && (
        <section aria-labelledby="programs">
          <h2 id="programs">{text.programs}</h2>
          <Programs {...{ topic, values, server, onServer }} rewind={begins} servers={document.servers} />
        </section>
      )}
    </article>
  );
}

function Facts({ topic: { contentType, isChecked, publish, subscribe } }: Pick<TopicViewProps, 'topic'>) {
  return (
    <dl>
      {publish !== undefined && publish !== '' && (
        <div>
          <dt>{text.mayPublish}</dt>
          <dd>{publish}</dd>
        </div>
      )}
      {subscribe !== undefined && subscribe !== '' && (
        <div>
          <dt>{text.maySubscribe}</dt>
          <dd>{subscribe}</dd>
        </div>
      )}
      <div>
        <dt>{text.contentType}</dt>
        <dd>
          <code>{contentType}</code>{' '}
          {isChecked && (
            <>
              <span className="tag">{text.checked}</span> {text.checkedHelp}
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}
