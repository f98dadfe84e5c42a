// swift-tools-version: 6.2
import PackageDescription

/// The core, from its top floor down: what `import Switchyard` gives.
///
/// A target that imports `Switchyard` also depends on these: `Switchyard` itself stays the same if one of them changes,
/// so an incremental build would not compile the target again.
let core: [Target.Dependency] = [
    "SwitchyardAPI", "SwitchyardClient", "SwitchyardTransport", "SwitchyardHTTP", "SwitchyardServices",
]

/// The products beside the core, for those who use them all.
let leaves: [Target.Dependency] = [
    "SwitchyardTransfers", "SwitchyardStreams", "SwitchyardOAuth", "SwitchyardDiskCache", "SwitchyardMarkup",
    "SwitchyardResources", "SwitchyardRequests", "SwitchyardOutbox", "SwitchyardServerLists", "SwitchyardDiagnostics",
    "SwitchyardInspector",
]

/// What tests stand on: real servers that misbehave, a clock that they own, and what several of them share.
let lab: [Target.Dependency] = ["SwitchyardTesting", "SwitchyardFixtures"]

let package = Package(
    name: "Switchyard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Switchyard", targets: ["Switchyard"]),
        .library(name: "SwitchyardTransfers", targets: ["SwitchyardTransfers"]),
        .library(name: "SwitchyardStreams", targets: ["SwitchyardStreams"]),
        .library(name: "SwitchyardOAuth", targets: ["SwitchyardOAuth"]),
        .library(name: "SwitchyardDiskCache", targets: ["SwitchyardDiskCache"]),
        .library(name: "SwitchyardMarkup", targets: ["SwitchyardMarkup"]),
        .library(name: "SwitchyardResources", targets: ["SwitchyardResources"]),
        .library(name: "SwitchyardRequests", targets: ["SwitchyardRequests"]),
        .library(name: "SwitchyardOutbox", targets: ["SwitchyardOutbox"]),
        .library(name: "SwitchyardServerLists", targets: ["SwitchyardServerLists"]),
        .library(name: "SwitchyardDiagnostics", targets: ["SwitchyardDiagnostics"]),
        .library(name: "SwitchyardTesting", targets: ["SwitchyardTesting"]),
        .library(name: "SwitchyardInspector", targets: ["SwitchyardInspector"]),
        .executable(name: "yard", targets: ["yard"]),
    ],
    targets: [
        // The core, floor by floor: each uses those in front of it here.
        .target(name: "SwitchyardServices"),
        .target(
            name: "SwitchyardHTTP",
            dependencies: ["SwitchyardServices"],
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(name: "CLibcurl"),
        .target(
            name: "SwitchyardTransport",
            dependencies: [
                "SwitchyardHTTP", "SwitchyardServices",
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(
            name: "SwitchyardClient",
            dependencies: ["SwitchyardTransport", "SwitchyardHTTP", "SwitchyardServices"]
        ),
        .target(
            name: "SwitchyardAPI",
            dependencies: ["SwitchyardClient", "SwitchyardTransport", "SwitchyardHTTP", "SwitchyardServices"]
        ),
        .target(name: "Switchyard", dependencies: core),

        // Leaves beside the core, each a product of its own: nothing in the core knows them.
        .target(
            name: "SwitchyardTransfers",
            dependencies: core,
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(name: "SwitchyardStreams", dependencies: core),
        .target(name: "SwitchyardOAuth", dependencies: core),
        .target(
            name: "SwitchyardDiskCache",
            dependencies: core,
            resources: [.copy("PrivacyInfo.xcprivacy")]
        ),
        .target(name: "SwitchyardMarkup", dependencies: core),
        .target(name: "SwitchyardResources", dependencies: core),
        .target(name: "SwitchyardRequests", dependencies: core),
        .target(name: "SwitchyardOutbox", dependencies: core),
        .target(name: "SwitchyardServerLists", dependencies: core),
        .target(name: "SwitchyardDiagnostics", dependencies: core),
        .target(name: "SwitchyardTesting", dependencies: core + ["SwitchyardDiagnostics"]),
        .target(
            name: "SwitchyardInspector",
            dependencies: core + ["SwitchyardDiagnostics", "SwitchyardTesting"],
            resources: [.copy("HTML/Page")]
        ),

        // Tools.
        .target(name: "SwitchyardGenerator"),
        .executableTarget(
            name: "yard",
            dependencies: core + leaves + ["Switchyard", "SwitchyardTesting", "SwitchyardGenerator"],
            path: "Sources/YardTool",
            resources: [.copy("Report/Page")]
        ),
        .systemLibrary(name: "CEpoll"),
        .executableTarget(
            name: "SwitchyardBenchmarks",
            dependencies: core + leaves + [
                "Switchyard", "SwitchyardTesting",
                .target(name: "CEpoll", condition: .when(platforms: [.linux])),
            ]
        ),

        // Tests: what several of them share, then those of each target.
        .target(
            name: "SwitchyardFixtures",
            dependencies: core + ["SwitchyardTransfers", "SwitchyardTesting"],
            path: "Tests/Fixtures",
            resources: [.copy("CaseFiles")]
        ),
        .testTarget(
            name: "SwitchyardServicesTests",
            dependencies: ["SwitchyardServices"] + lab,
            resources: [.copy("Cases"), .copy("Traces")]
        ),
        .testTarget(name: "SwitchyardHTTPTests", dependencies: core + leaves + lab),
        .testTarget(
            name: "SwitchyardTransportTests",
            dependencies: core + ["SwitchyardTransfers", "SwitchyardStreams", "SwitchyardRequests"] + lab + [
                .target(name: "CLibcurl", condition: .when(platforms: [.linux]))
            ]
        ),
        .testTarget(name: "SwitchyardClientTests", dependencies: core + leaves + lab),
        .testTarget(
            name: "SwitchyardAPITests",
            dependencies: core + leaves + lab,
            resources: [.copy("Cases")]
        ),
        .testTarget(name: "SwitchyardTransfersTests", dependencies: core + leaves + lab),
        .testTarget(
            name: "SwitchyardStreamsTests",
            dependencies: core + ["SwitchyardStreams", "SwitchyardInspector", "SwitchyardDiagnostics"] + lab
        ),
        .testTarget(
            name: "SwitchyardOAuthTests",
            dependencies: core + ["SwitchyardOAuth", "SwitchyardDiagnostics"] + lab
        ),
        .testTarget(name: "SwitchyardDiskCacheTests", dependencies: core + ["SwitchyardDiskCache"] + lab),
        .testTarget(name: "SwitchyardMarkupTests", dependencies: core + ["SwitchyardMarkup"] + lab),
        .testTarget(name: "SwitchyardResourcesTests", dependencies: core + leaves + lab),
        .testTarget(name: "SwitchyardRequestsTests", dependencies: core + leaves + lab),
        .testTarget(name: "SwitchyardOutboxTests", dependencies: core + ["SwitchyardOutbox"] + lab),
        .testTarget(name: "SwitchyardServerListsTests", dependencies: core + ["SwitchyardServerLists"] + lab),
        .testTarget(name: "SwitchyardDiagnosticsTests", dependencies: core + leaves + lab),
        .testTarget(name: "SwitchyardTestingTests", dependencies: core + ["SwitchyardDiagnostics"] + lab),
        .testTarget(
            name: "SwitchyardInspectorTests",
            dependencies: core + ["SwitchyardInspector", "SwitchyardDiagnostics", "SwitchyardStreams"] + lab
        ),
        .testTarget(name: "SwitchyardTests", dependencies: core + leaves + ["Switchyard"] + lab),
        .testTarget(name: "SwitchyardMainActorTests", dependencies: core + ["Switchyard", "SwitchyardTesting"]),
        .testTarget(
            name: "YardToolTests",
            dependencies: core + [
                "yard", "Switchyard", "SwitchyardDiagnostics", "SwitchyardInspector", "SwitchyardServerLists",
            ] + lab
        ),
        // The reviewed output of the generator. Like the client in an app, it has no access to package declarations.
        .target(
            name: "SwitchyardShopClient",
            dependencies: core + ["Switchyard"],
            path: "Tests/SwitchyardGeneratorTests/Golden",
            exclude: ["Services"],
            packageAccess: false
        ),
        .testTarget(
            name: "SwitchyardGeneratorTests",
            dependencies: core + ["SwitchyardGenerator", "SwitchyardShopClient", "Switchyard"] + lab,
            exclude: ["Golden"],
            resources: [.copy("Documents")]
        ),
        .testTarget(
            name: "SwitchyardForumTests",
            dependencies: core + ["yard", "Switchyard"] + lab,
            exclude: ["forum.yaml", "Client/Services"],
            packageAccess: false
        ),
        .testTarget(name: "SwitchyardBenchmarksTests", dependencies: core + ["SwitchyardBenchmarks"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}

// An app as new ones are set up: what does not say otherwise is on the main actor.
for target in package.targets where target.name == "SwitchyardMainActorTests" {
    target.swiftSettings?.append(.defaultIsolation(MainActor.self))
}
