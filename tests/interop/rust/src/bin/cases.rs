// SPDX-License-Identifier: Apache-2.0
//! Runs the interop cases with tonic.
//!
//! cases LEVEE TARGET    prints a line per case: "ok NAME", "failed NAME: WHY" or
//!                       "skipped NAME: WHY"

use std::fmt::Debug;
use std::time::Duration;

use levee_interop::missing_service_client::MissingServiceClient;
use levee_interop::test_service_client::TestServiceClient;
use levee_interop::{tls, Answer, Empty, Ending, Form, Request as Asked, Response as Answered};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::CompressionEncoding;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};

const PATIENCE: Duration = Duration::from_secs(300);
const LARGE: usize = 300_000;
const SIZES: [usize; 4] = [31_000, 9, 2_500, 60_000];
const SPECIAL: &str = "\t\ndykes hold 100% \r\n\u{2713} and \u{1F30A}\t\n";
const BINARY: &[u8] = b"\x00\xff\x0a\x2c";

type Case = Result<(), String>;
type Test = TestServiceClient<Channel>;

fn expect<T: PartialEq + Debug>(got: T, wanted: T) -> Case {
    if got == wanted {
        return Ok(());
    }
    Err(format!("{got:.200?} is not {wanted:.200?}"))
}

fn told(status: Status) -> String {
    format!("ended with {:?} {:?}", status.code(), status.message())
}

fn expect_body(response: &Answered, size: usize) -> Case {
    expect(response.body == vec![0; size], true).map_err(|_| "another body".into())
}

fn expect_end<T>(result: Result<T, Status>, code: Code, message: &str) -> Case {
    let status = result.err().ok_or("succeeded")?;
    expect((status.code(), status.message()), (code, message))
}

fn expect_code<T>(result: Result<T, Status>, code: Code) -> Case {
    expect(result.err().ok_or("succeeded")?.code(), code)
}

fn patient<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}

fn asking(sizes: &[usize], form: Form) -> Asked {
    let answer = |&size: &usize| Answer { size: size as u32, form: form.into(), delay_ms: 0 };
    Asked { answers: sizes.iter().map(answer).collect(), ..Asked::default() }
}

fn with_body(size: usize, form: Form, asked: Asked) -> Asked {
    Asked { body: vec![0; size], form: form.into(), ..asked }
}

fn ending(message: &str) -> Asked {
    let ending = Ending { code: Code::Unknown.into(), message: message.into() };
    Asked { ending: Some(ending), ..Asked::default() }
}

fn add_metadata<T>(mut request: Request<T>) -> Request<T> {
    let metadata = request.metadata_mut();
    metadata.insert("x-interop-head", MetadataValue::from_static("at the head"));
    metadata.insert_bin("x-interop-trailer-bin", MetadataValue::from_bytes(BINARY));
    request
}

fn expect_metadata(head: &MetadataMap, trailers: &MetadataMap) -> Case {
    let in_head = head.get("x-interop-head").ok_or("not in the headers")?;
    expect(in_head.as_encoded_bytes(), b"at the head".as_slice())?;
    let in_trailers = trailers.get_bin("x-interop-trailer-bin").ok_or("not in the trailers")?;
    expect(in_trailers.to_bytes().unwrap_or_default().as_ref(), BINARY)
}

/// A FullDuplex call whose requests are sent one by one.
struct Duplex {
    requests: mpsc::Sender<Asked>,
    answers: Streaming<Answered>,
    head: MetadataMap,
}

impl Duplex {
    async fn begin(
        test: &mut Test,
        first: Option<Asked>,
        change: impl FnOnce(Request<ReceiverStream<Asked>>) -> Request<ReceiverStream<Asked>>,
    ) -> Result<Duplex, Status> {
        // A server may wait for the first request before it sends its headers.
        let (requests, to_send) = mpsc::channel(1);
        match first {
            Some(asked) => requests.send(asked).await.expect("there is room for one"),
            None => {
                let (closed, empty) = mpsc::channel(1);
                drop(closed);
                let response =
                    test.full_duplex(change(patient(ReceiverStream::new(empty)))).await?;
                return Ok(Duplex::of(requests, response));
            }
        }
        let response = test.full_duplex(change(patient(ReceiverStream::new(to_send)))).await?;
        Ok(Duplex::of(requests, response))
    }

    fn of(requests: mpsc::Sender<Asked>, response: Response<Streaming<Answered>>) -> Duplex {
        let (head, answers, _) = response.into_parts();
        Duplex { requests, answers, head }
    }

    async fn expect_answer(&mut self, size: usize) -> Case {
        let answer = self.answers.message().await.map_err(told)?;
        expect_body(&answer.ok_or("no answer")?, size)
    }

    /// Half-closes, and returns the trailers of a call that ends well without further answers.
    async fn end(mut self) -> Result<(MetadataMap, MetadataMap), String> {
        drop(self.requests);
        expect(self.answers.message().await.map_err(told)?, None)?;
        let trailers = self.answers.trailers().await.map_err(told)?;
        Ok((self.head, trailers.unwrap_or_default()))
    }
}

struct Cases {
    test: Test,
    compressing: Test,
    missing: MissingServiceClient<Channel>,
}

impl Cases {
    async fn empty_unary(&mut self) -> Case {
        self.test.empty_call(patient(Empty {})).await.map(drop).map_err(told)
    }

    async fn unary(test: &mut Test, asked: Asked, size: usize) -> Case {
        let response = test.unary_call(patient(asked)).await.map_err(told)?;
        expect_body(response.get_ref(), size)
    }

    async fn large_unary(&mut self) -> Case {
        let asked = with_body(LARGE, Form::Plain, asking(&[LARGE], Form::Plain));
        Self::unary(&mut self.test, asked, LARGE).await
    }

    async fn client_compressed_unary(&mut self) -> Case {
        let asked = with_body(LARGE, Form::Compressed, Asked::default());
        Self::unary(&mut self.compressing, asked, 0).await?;
        let asked = with_body(LARGE, Form::Plain, Asked::default());
        Self::unary(&mut self.test, asked, 0).await
    }

    async fn server_compressed_unary(&mut self) -> Case {
        Self::unary(&mut self.test, asking(&[LARGE], Form::Compressed), LARGE).await?;
        Self::unary(&mut self.test, asking(&[LARGE], Form::Plain), LARGE).await
    }

    async fn output(&mut self, asked: Asked, sizes: &[usize]) -> Case {
        let response = self.test.streaming_output(patient(asked)).await.map_err(told)?;
        let mut answers = response.into_inner();
        for &size in sizes {
            let answer = answers.message().await.map_err(told)?;
            expect_body(&answer.ok_or("too few answers")?, size)?;
        }
        expect(answers.message().await.map_err(told)?, None)
    }

    async fn server_compressed_streaming(&mut self) -> Case {
        let mut asked = asking(&[LARGE, LARGE], Form::Compressed);
        asked.answers[1].set_form(Form::Plain);
        self.output(asked, &[LARGE, LARGE]).await
    }

    async fn client_streaming(&mut self) -> Case {
        let requests = SIZES.map(|size| with_body(size, Form::Plain, Asked::default()));
        let request = patient(tokio_stream::iter(requests));
        let total = self.test.streaming_input(request).await.map_err(told)?;
        expect(total.get_ref().size, 93_509)
    }

    async fn server_streaming(&mut self) -> Case {
        self.output(asking(&SIZES, Form::Any), &SIZES).await
    }

    async fn ping_pong(&mut self) -> Case {
        let asked = |size| with_body(size, Form::Plain, asking(&[size], Form::Any));
        let first = Some(asked(SIZES[0]));
        let mut duplex =
            Duplex::begin(&mut self.test, first, |request| request).await.map_err(told)?;
        duplex.expect_answer(SIZES[0]).await?;
        for size in &SIZES[1..] {
            duplex.requests.send(asked(*size)).await.map_err(|_| "ended early")?;
            duplex.expect_answer(*size).await?;
        }
        duplex.end().await.map(drop)
    }

    async fn empty_stream(&mut self) -> Case {
        let duplex = Duplex::begin(&mut self.test, None, |request| request).await.map_err(told)?;
        duplex.end().await.map(drop)
    }

    async fn custom_metadata(&mut self) -> Case {
        let request = add_metadata(patient(Empty {}));
        // tonic joins the trailers of a unary call with its headers.
        let answer = self.test.empty_call(request).await.map_err(told)?;
        expect_metadata(answer.metadata(), answer.metadata())?;

        let first = Some(asking(&[1], Form::Any));
        let mut duplex = Duplex::begin(&mut self.test, first, add_metadata).await.map_err(told)?;
        duplex.expect_answer(1).await?;
        let (head, trailers) = duplex.end().await?;
        expect_metadata(&head, &trailers)
    }

    async fn status_code_and_message(&mut self) -> Case {
        let message = "as asked for";
        let result = self.test.unary_call(patient(ending(message))).await;
        expect_end(result, Code::Unknown, message)?;
        // Without an answer before it, the status may come at the head or after it.
        match Duplex::begin(&mut self.test, Some(ending(message)), |request| request).await {
            Ok(mut duplex) => expect_end(duplex.answers.message().await, Code::Unknown, message),
            Err(status) => expect_end(Err::<(), _>(status), Code::Unknown, message),
        }
    }

    async fn special_status_message(&mut self) -> Case {
        let result = self.test.unary_call(patient(ending(SPECIAL))).await;
        expect_end(result, Code::Unknown, SPECIAL)
    }

    async fn unimplemented_method(&mut self) -> Case {
        expect_code(self.test.missing(patient(Empty {})).await, Code::Unimplemented)
    }

    async fn unimplemented_service(&mut self) -> Case {
        expect_code(self.missing.missing(patient(Empty {})).await, Code::Unimplemented)
    }

    // tonic cancels a call by dropping it, and leaves no status.
    async fn cancel_after_begin(&mut self) -> Case {
        let (_requests, to_send) = mpsc::channel::<Asked>(1);
        let call = self.test.streaming_input(patient(ReceiverStream::new(to_send)));
        let waited = tokio::time::timeout(Duration::from_millis(50), call).await;
        expect(waited.is_err(), true)?;
        self.empty_unary().await
    }

    async fn cancel_after_first_response(&mut self) -> Case {
        let first = Some(asking(&[9], Form::Any));
        let mut duplex =
            Duplex::begin(&mut self.test, first, |request| request).await.map_err(told)?;
        duplex.expect_answer(9).await?;
        drop(duplex);
        self.empty_unary().await
    }

    async fn timeout_on_sleeping_server(&mut self) -> Case {
        let mut asked = asking(&[9], Form::Any);
        asked.answers[0].delay_ms = 5_000;
        let hurried = |mut request: Request<_>| {
            request.set_timeout(Duration::from_millis(50));
            request
        };
        let status = match Duplex::begin(&mut self.test, Some(asked), hurried).await {
            Ok(mut duplex) => duplex.answers.message().await.err().ok_or("succeeded")?,
            Err(status) => status,
        };
        if (status.code(), status.message()) == (Code::Cancelled, "Timeout expired") {
            return Ok(()); // So tonic calls a deadline that its own timer sees first.
        }
        expect(status.code(), Code::DeadlineExceeded)
    }
}

fn print(name: &str, result: Case) {
    match result {
        Ok(()) => println!("ok {name}"),
        Err(why) => println!("failed {name}: {why}"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let tls = tls::client()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut endpoint = Endpoint::try_from(format!("{scheme}://{}", arguments[1]))?
        .origin(format!("{scheme}://{}", arguments[2]).parse()?);
    if let Some(config) = tls {
        endpoint = endpoint.tls_config(config)?;
    }
    let channel = endpoint.connect_lazy();
    let test = TestServiceClient::new(channel.clone()).accept_compressed(CompressionEncoding::Gzip);
    let mut cases = Cases {
        compressing: test.clone().send_compressed(CompressionEncoding::Gzip),
        test,
        missing: MissingServiceClient::new(channel),
    };
    macro_rules! run {
        ($($name:ident)*) => { $( print(stringify!($name), cases.$name().await); )* };
    }
    run!(empty_unary large_unary client_compressed_unary server_compressed_unary);
    println!(
        "skipped client_compressed_streaming: tonic compresses all messages of a call or none"
    );
    run!(server_compressed_streaming client_streaming server_streaming ping_pong empty_stream);
    run!(custom_metadata status_code_and_message special_status_message);
    run!(unimplemented_method unimplemented_service cancel_after_begin);
    run!(cancel_after_first_response timeout_on_sleeping_server);
    Ok(())
}
