// SPDX-License-Identifier: Apache-2.0
//! Serves interop.proto with tonic: prints "listening HOST:PORT", and ends with its standard input.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use levee_interop::test_service_server::{TestService, TestServiceServer};
use levee_interop::{tls, Answer, Empty, Form, Request as Asked, Response as Answered, Total};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::body::Body;
use tonic::codec::CompressionEncoding;
use tonic::{Code, Request, Response, Status, Streaming};

/// Puts the fields that a caller asks for into the answer. It stands before tonic because that
/// lets no unary method have trailers.
#[derive(Clone)]
struct EchoMetadata<S>(S);

impl<S> tower::Service<http::Request<Body>> for EchoMetadata<S>
where
    S: tower::Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let head = request.headers().get("x-interop-head").cloned();
        let trailer = request.headers().get("x-interop-trailer-bin").cloned();
        let answered = self.0.call(request);
        Box::pin(async move {
            let mut response = answered.await?;
            if let Some(value) = head {
                response.headers_mut().insert("x-interop-head", value);
            }
            let Some(value) = trailer else { return Ok(response) };
            Ok(response.map(|body| {
                Body::new(body.map_frame(move |frame| match frame.into_trailers() {
                    Ok(mut trailers) => {
                        trailers.insert("x-interop-trailer-bin", value.clone());
                        http_body::Frame::trailers(trailers)
                    }
                    Err(data) => data,
                }))
            }))
        })
    }
}

fn check_ending(asked: &Asked) -> Result<(), Status> {
    match &asked.ending {
        Some(ending) if ending.code != 0 => {
            Err(Status::new(Code::from_i32(ending.code), ending.message.clone()))
        }
        _ => Ok(()),
    }
}

async fn answered(answer: &Answer) -> Answered {
    tokio::time::sleep(Duration::from_millis(answer.delay_ms.into())).await;
    Answered { body: vec![0; answer.size as usize] }
}

type Answers = mpsc::Sender<Result<Answered, Status>>;

/// Sends what is asked for; an error says that the call has ended.
async fn send(asked: &Asked, answers: &Answers) -> Result<(), ()> {
    for answer in &asked.answers {
        answers.send(Ok(answered(answer).await)).await.map_err(|_| ())?;
    }
    if let Err(status) = check_ending(asked) {
        let _ = answers.send(Err(status)).await;
        return Err(());
    }
    Ok(())
}

struct Service;

#[tonic::async_trait]
impl TestService for Service {
    async fn empty_call(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        Ok(Response::new(Empty {}))
    }

    async fn unary_call(&self, request: Request<Asked>) -> Result<Response<Answered>, Status> {
        let asked = request.into_inner();
        check_ending(&asked)?;
        let Some(answer) = asked.answers.first() else {
            return Ok(Response::new(Answered::default()));
        };
        let mut response = Response::new(answered(answer).await);
        if answer.form() != Form::Compressed {
            response.disable_compression();
        }
        Ok(response)
    }

    async fn streaming_input(
        &self,
        request: Request<Streaming<Asked>>,
    ) -> Result<Response<Total>, Status> {
        let mut requests = request.into_inner();
        let mut total = Total::default();
        while let Some(asked) = requests.message().await? {
            total.size += asked.body.len() as u64;
        }
        Ok(Response::new(total))
    }

    type StreamingOutputStream = ReceiverStream<Result<Answered, Status>>;

    async fn streaming_output(
        &self,
        request: Request<Asked>,
    ) -> Result<Response<Self::StreamingOutputStream>, Status> {
        let (answers, received) = mpsc::channel(1);
        tokio::spawn(async move { send(request.get_ref(), &answers).await });
        Ok(Response::new(ReceiverStream::new(received)))
    }

    type FullDuplexStream = ReceiverStream<Result<Answered, Status>>;

    async fn full_duplex(
        &self,
        request: Request<Streaming<Asked>>,
    ) -> Result<Response<Self::FullDuplexStream>, Status> {
        let mut requests = request.into_inner();
        let (answers, received) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Ok(Some(asked)) = requests.message().await {
                if send(&asked, &answers).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(received)))
    }

    async fn missing(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        Err(Status::unimplemented("no server has it"))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening {}", listener.local_addr()?);
    let service = TestServiceServer::new(Service)
        .accept_compressed(CompressionEncoding::Gzip)
        .send_compressed(CompressionEncoding::Gzip);
    let mut builder = tonic::transport::Server::builder();
    if let Some(config) = tls::server()? {
        builder = builder.tls_config(config)?;
    }
    let server = builder
        .layer(tower::layer::layer_fn(EchoMetadata))
        .add_service(service)
        .serve_with_incoming(TcpListenerStream::new(listener));
    let (mut input, mut rest) = (tokio::io::stdin(), Vec::new());
    tokio::select! {
        ended = server => ended?,
        _ = input.read_to_end(&mut rest) => {}
    }
    Ok(())
}
