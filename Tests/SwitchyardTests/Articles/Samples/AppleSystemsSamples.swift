import Foundation
import Switchyard
import SwitchyardResources
import SwitchyardTransfers

/// The samples of the article on Apple systems, word for word, with stand-ins for UIKit and SwiftUI.
enum AppleSystemsSamples {
    struct Topic: Decodable, Sendable {
        var title: String
    }

    // sample
    @MainActor final class Films {
        nonisolated static let identifier = "com.example.films"
        let downloads: BackgroundDownloads

        init() throws(DownloadFailure) {
            downloads = try BackgroundDownloads(identifier: Self.identifier) { download, result in
                print(download.file.lastPathComponent, result)
            }
        }

        func load(_ url: RequestURL, to file: URL) throws(DownloadFailure) {
            var request = HTTPRequest(url: url)
            request.networkAccess = HTTPRequest.NetworkAccess(allowsExpensive: false)
            try downloads.start(request, to: file)
        }

        func waitForEvents() async {
            await withCheckedContinuation { continuation in
                downloads.whenEventsAreFinished { continuation.resume() }
            }
        }
    }
    // end

    // sample
    final class AppDelegate: UIResponder, UIApplicationDelegate {
        private(set) var films: Films?

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            films = try? Films()
            return true
        }

        func application(
            _ application: UIApplication,
            handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            guard identifier == Films.identifier, let films else { return completionHandler() }
            films.downloads.whenEventsAreFinished(completionHandler)
        }
    }
    // end

    // sample
    struct FilmsApp: App {
        @UIApplicationDelegateAdaptor private var delegate: AppDelegate

        var body: some Scene {
            WindowGroup { Text("Films") }
        }
    }
    // end

    // sample
    struct WatchApp: App {
        private let films = try? Films()

        var body: some Scene {
            WindowGroup { Text("Films") }
                .backgroundTask(.urlSession(Films.identifier)) { await films?.waitForEvents() }
        }
    }
    // end

    #if canImport(Darwin)
        func extensionDownloads() throws -> BackgroundDownloads {
            // sample
            let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.films.share")
            let downloads = try BackgroundDownloads(configuration) { download, result in
                print(download.file.lastPathComponent, result)
            }
            // end
            return downloads
        }
    #endif

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    // sample
    struct TopicView: View {
        @State private var topic: ObservedModel<ResourceSnapshot<Topic>>

        init(_ resource: APIResource<Topic>) {
            _topic = State(wrappedValue: ObservedModel(resource))
            resource.startLoading()
        }

        var body: some View {
            VStack {
                Text(topic.state.value?.title ?? topic.state.error?.message ?? "")
                if topic.state.isLoading { ProgressView() }
            }
            .task { await topic.follow() }
        }
    }
    // end

    // sample
    func poster(of film: Int) -> APIConfiguration {
        var call = APIConfiguration(path: "posters/\(film)")
        call.networkAccess = HTTPRequest.NetworkAccess(allowsExpensive: false, allowsConstrained: false)
        call.traffic = .background
        return call
    }
    // end
}

// MARK: Stand-ins for UIKit and SwiftUI, declared as in Apple's documentation

extension AppleSystemsSamples {
    @MainActor class UIResponder: NSObject {}

    @MainActor final class UIApplication: UIResponder {
        struct LaunchOptionsKey: Hashable {}
    }

    @MainActor protocol UIApplicationDelegate: NSObjectProtocol {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool
        func application(
            _ application: UIApplication,
            handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        )
    }

    @MainActor @propertyWrapper struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate> {
        let wrappedValue: Delegate

        init(_ type: Delegate.Type = Delegate.self) { fatalError("a stand-in") }
    }

    @MainActor protocol App {
        associatedtype Body: Scene
        var body: Body { get }
    }

    @MainActor protocol Scene {}

    struct WindowGroup: Scene {
        init(@ViewBuilder content: () -> Block) {}
    }

    struct BackgroundTask<Request, Response> {
        static func urlSession(_ identifier: String) -> BackgroundTask<Void, Void> { .init() }
    }

    @MainActor protocol View {
        associatedtype Body: View
        @ViewBuilder var body: Body { get }
    }

    struct Block: View {
        var body: Never { fatalError("a stand-in") }
    }

    @MainActor @resultBuilder enum ViewBuilder {
        static func buildExpression(_ nothing: Never) -> Never {}
        static func buildBlock(_ nothing: Never) -> Never {}
        static func buildExpression(_ view: some View) -> Block { Block() }
        static func buildOptional(_ block: Block?) -> Block { Block() }
        static func buildBlock(_ blocks: Block...) -> Block { Block() }
    }

    struct Text: View {
        init(_ text: String) {}
        var body: Never { fatalError("a stand-in") }
    }

    struct ProgressView: View {
        var body: Never { fatalError("a stand-in") }
    }

    struct VStack: View {
        init(@ViewBuilder content: () -> Block) {}
        var body: Never { fatalError("a stand-in") }
    }

    @propertyWrapper struct State<Value> {
        let wrappedValue: Value
    }
}

extension Never: AppleSystemsSamples.View {
    var body: Never { fatalError("a stand-in") }
}

extension AppleSystemsSamples.View {
    func task(_ action: @escaping @Sendable () async -> Void) -> some AppleSystemsSamples.View { self }
}

extension AppleSystemsSamples.Scene {
    func backgroundTask<Request: Sendable, Response: Sendable>(
        _ task: AppleSystemsSamples.BackgroundTask<Request, Response>,
        action: @escaping @Sendable (Request) async -> Response
    ) -> some AppleSystemsSamples.Scene { self }
}
