// SPDX-License-Identifier: GPL-2.0-or-later

//! A client and a server of HTTP/3 made of quinn, for tests/interop/interop.py.
//!
//!     interop-quinn client ADDRESS CASE BYTES          says nothing, or why not; exit status 1 then
//!     interop-quinn server ADDRESS CERTIFICATE KEY     until its input ends

use bytes::{Buf, Bytes};
use rustls::pki_types::{pem::PemObject, CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use sha2::{Digest, Sha256};
use std::{future::poll_fn, net::SocketAddr, sync::Arc, time::Duration};
use tokio::io::AsyncReadExt;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
type Requests = h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>;
const PIECE: usize = 1 << 16;

fn body(n: usize) -> Vec<u8> {
    let block: String = (0..4096).map(|i| format!("{i:07}\n")).collect();
    let mut all = block.repeat(n / block.len() + 1).into_bytes();
    all.truncate(n);
    all
}

fn digest(b: &[u8]) -> String {
    let sum: String = Sha256::digest(b).iter().map(|x| format!("{x:02x}")).collect();
    format!("{} {sum}", b.len())
}

/// Certificates of tests are their own authorities.
#[derive(Debug)]
struct Any(Arc<rustls::crypto::CryptoProvider>);

impl rustls::client::danger::ServerCertVerifier for Any {
    fn verify_server_cert(
        &self, _: &CertificateDer<'_>, _: &[CertificateDer<'_>], _: &ServerName<'_>, _: &[u8], _: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self, _: &[u8], _: &CertificateDer<'_>, _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self, message: &[u8], cert: &CertificateDer<'_>, signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn transport() -> Arc<quinn::TransportConfig> {
    let mut t = quinn::TransportConfig::default();
    t.stream_receive_window((8u32 << 20).into()).receive_window((16u32 << 20).into());
    Arc::new(t)
}

fn client_endpoint() -> Outcome<quinn::Endpoint> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Any(provider)))
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    tls.enable_early_data = true;
    let mut config = quinn::ClientConfig::new(Arc::new(quinn::crypto::rustls::QuicClientConfig::try_from(tls)?));
    config.transport_config(transport());
    let mut endpoint = quinn::Endpoint::client("127.0.0.1:0".parse()?)?;
    endpoint.set_default_client_config(config);
    Ok(endpoint)
}

async fn talk(conn: quinn::Connection) -> Outcome<Requests> {
    let (mut driver, requests) = h3::client::new(h3_quinn::Connection::new(conn)).await?;
    tokio::spawn(async move { poll_fn(|cx| driver.poll_close(cx)).await });
    Ok(requests)
}

async fn ask(r: &mut Requests, method: &str, path: &str, content: &[u8]) -> Outcome<(http::HeaderMap, Vec<u8>)> {
    let head = http::Request::builder().method(method).uri(format!("https://localhost{path}")).body(())?;
    let mut stream = r.send_request(head).await?;
    for piece in content.chunks(PIECE) {
        stream.send_data(Bytes::copy_from_slice(piece)).await?;
    }
    stream.finish().await?;
    let answer = stream.recv_response().await?;
    let mut got = Vec::new();
    while let Some(mut piece) = stream.recv_data().await? {
        let bytes = piece.copy_to_bytes(piece.remaining());
        got.extend_from_slice(&bytes);
    }
    if answer.status() != 200 {
        return Err(format!("status {}", answer.status()).into());
    }
    Ok((answer.headers().clone(), got))
}

async fn down(r: &mut Requests, n: usize) -> Outcome<http::HeaderMap> {
    let (fields, got) = ask(r, "GET", &format!("/{n}"), b"").await?;
    if got != body(n) {
        return Err(format!("another body came: {}", digest(&got)).into());
    }
    Ok(fields)
}

async fn up(r: &mut Requests, n: usize) -> Outcome<()> {
    let (_, got) = ask(r, "POST", "/", &body(n)).await?;
    if got != digest(&body(n)).as_bytes() {
        return Err("another body arrived".into());
    }
    Ok(())
}

async fn streams(r: &Requests, n: usize) -> Outcome<()> {
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..n {
        let mut r = r.clone();
        all.spawn(async move { down(&mut r, 100).await });
    }
    while let Some(one) = all.join_next().await {
        one??;
    }
    Ok(())
}

/// The second connection of two: by the session of the first.
async fn again(endpoint: &quinn::Endpoint, address: SocketAddr, early: bool) -> Outcome<()> {
    let first = endpoint.connect(address, "localhost")?.await?;
    down(&mut talk(first.clone()).await?, 10).await?;
    tokio::time::sleep(Duration::from_millis(300)).await; // the tickets come
    first.close(0x100u32.into(), b"");
    let connecting = endpoint.connect(address, "localhost")?;
    let conn = if early {
        connecting.into_0rtt().map_err(|_| "the session allows no early data")?.0
    } else {
        connecting.await?
    };
    let fields = down(&mut talk(conn).await?, 10).await?;
    let says = |name: &str| fields.get(name).is_some_and(|v| v == "1");
    if early && !says("x-early") {
        return Err("it was not early".into());
    }
    if !says("x-resumed") {
        return Err("the session was not resumed".into());
    }
    Ok(())
}

async fn client(address: SocketAddr, case: &str, n: usize) -> Outcome<()> {
    let endpoint = client_endpoint()?;
    if case == "resumption" || case == "0-RTT" {
        return again(&endpoint, address, case == "0-RTT").await;
    }
    let conn = endpoint.connect(address, "localhost")?.await?;
    let mut r = talk(conn.clone()).await?;
    match case {
        "1,000 streams" => streams(&r, 1000).await?,
        "up" => up(&mut r, n).await?,
        "both" => {
            up(&mut r, n).await?;
            down(&mut r, n).await?;
        }
        "key update" => {
            for _ in 0..3 {
                conn.force_key_update();
                down(&mut r, 1000).await?;
            }
        }
        _ => {
            down(&mut r, n).await?;
        }
    }
    conn.close(0x100u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(())
}

async fn serve_one(conn: quinn::Connection) -> Outcome<()> {
    let mut h3 = h3::server::Connection::<_, Bytes>::new(h3_quinn::Connection::new(conn)).await?;
    while let Some(resolver) = h3.accept().await? {
        tokio::spawn(async move {
            let (request, mut stream) = resolver.resolve_request().await?;
            let mut got = Vec::new();
            while let Some(mut piece) = stream.recv_data().await? {
                let bytes = piece.copy_to_bytes(piece.remaining());
                got.extend_from_slice(&bytes);
            }
            let text = if request.method() == "POST" {
                digest(&got).into_bytes()
            } else {
                body(request.uri().path().trim_matches('/').parse().unwrap_or(0))
            };
            stream.send_response(http::Response::builder().status(200).body(())?).await?;
            for piece in text.chunks(PIECE) {
                stream.send_data(Bytes::copy_from_slice(piece)).await?;
            }
            stream.finish().await?;
            Outcome::Ok(())
        });
    }
    Ok(())
}

async fn server(address: SocketAddr, certificate: &str, key: &str) -> Outcome<()> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let mut tls = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    tls.max_early_data_size = u32::MAX;
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(quinn::crypto::rustls::QuicServerConfig::try_from(tls)?));
    config.transport_config(transport());
    let endpoint = quinn::Endpoint::server(config, address)?;
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            tokio::spawn(async move { serve_one(incoming.await?).await });
        }
    });
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?; // ends with the test
    Ok(())
}

async fn run() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["client", address, case, n] => client(address.parse()?, case, n.parse()?).await,
        ["server", address, certificate, key] => server(address.parse()?, certificate, key).await,
        _ => Err("usage: see main.rs".into()),
    }
}

#[tokio::main]
async fn main() {
    if let Err(e) = run().await {
        println!("{e}");
        std::process::exit(1);
    }
    std::process::exit(0);
}
